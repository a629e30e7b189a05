/** Proves one attached key: a challenge of the registry, what the key answers, and what the registry concludes. */
import type { BodyOf, DataOf } from '../../../contract/define.ts';
import type { Key } from '../../../contract/hardware.ts';
import { unproved } from '../../../contract/key-values.ts';
import type { Proof } from '../../../contract/proof.ts';
import type { Routes } from '../../../contract/routes.ts';
import { exchangeProof, type MethodChoice, type ProofRequests } from '../../../enrollment/proof-exchange.ts';
import type { NumberedKey } from '../../../enrollment/registry.ts';
import { isServerRefusal } from '../../client/failures.ts';
import { Fault, failure } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { registrationOf } from '../../framework/devices/registration.ts';
import { pause, poll } from '../../retry.ts';
import { safe } from '../../terminal/text.ts';

/** Known facts about a key after it was asked. */
export interface KeyVerdict {
  readonly keyId: string;
  readonly serialNumber: string;
  /** Null if the serial number is not registered. */
  readonly deviceId: string | null;
  /** The challenge that was answered: a registration can refer to it. Null if the key said nothing at all. */
  readonly proofId: string | null;
  readonly proof: Proof;
  /** Name of the rule that the evidence breaks; null if it breaks none. */
  readonly rule: string | null;
  readonly reason: string | null;
  /** Why the key gave no evidence; null if it gave some. */
  readonly problem: string | null;
}

type Answer = DataOf<Routes['proveKey']>;

/** Milliseconds between two requests for the state of the key, within the limit of requests. The stream has no event for a touch. */
const touchPollMs = 400;

/** How a key is asked. */
interface Options {
  readonly method?: MethodChoice;
  /** Whether the key makes a credential for receipts. */
  readonly forReceipt?: boolean;
}

/** The verdict on the key. Ctrl-C throws a fault, and the key stops waiting for a touch. */
export async function proveKey(
  context: Context,
  key: NumberedKey,
  { method, forReceipt }: Options,
): Promise<KeyVerdict> {
  const { registry } = context;
  const requests: ProofRequests = {
    createChallenge: () =>
      registry.call('createProofChallenge').catch(error => {
        throw isServerRefusal(error, 404) ? tooOld('the registry') : error;
      }),
    proveKey: body => answerOf(context, key, body),
    submitProof: input => registry.call('submitProof', input),
  };
  const { problem, verdict } = await exchangeProof(requests, key, method, forReceipt);
  if (verdict === null) return nothingSaid(context, key, problem);
  const { deviceId, proofId, proof, rule, reason } = verdict;
  return { keyId: key.keyId, serialNumber: key.serialNumber, deviceId, proofId, proof, rule, reason, problem };
}

/** The registry has concluded nothing. */
async function nothingSaid(context: Context, key: NumberedKey, problem: string | null): Promise<KeyVerdict> {
  const { keyId, serialNumber } = key;
  const deviceId = (await registrationOf(context, key))?.deviceId ?? null;
  return { keyId, serialNumber, deviceId, proofId: null, proof: noProof, rule: null, reason: null, problem };
}

const noProof: Proof = { ...unproved, warnings: [] };

function answerOf(context: Context, key: NumberedKey, body: BodyOf<Routes['proveKey']>): Promise<Answer> {
  context.out.progress.say(`Proving ${safe(key.serialNumber)}`);
  const { keyId } = key;
  return whileTouched(context, key, () => context.hardware.call('proveKey', { params: { keyId }, body }));
}

/** Sends a request to an attached key, and shows if the key waits for a touch. */
export async function whileTouched<T>(context: Context, key: NumberedKey, send: () => Promise<T>): Promise<T> {
  const { out } = context;
  const ended = new AbortController();
  const watching = watchTouch(context, key, ended.signal);
  try {
    return await send();
  } catch (error) {
    if (!isServerRefusal(error, 404)) throw error;
    if ((key as Partial<Key>).claims === undefined) throw tooOld('the hardware service');
    throw new Fault('hardware', `the key ${key.serialNumber} was unplugged`, 'plug it in and try again');
  } finally {
    ended.abort();
    out.progress.clear();
    await watching;
  }
}

/** Shows once that the key waits for a touch. The proof does not depend on it, so its errors are not reported. */
async function watchTouch({ hardware, out }: Context, { keyId }: Key, signal: AbortSignal): Promise<void> {
  const client = hardware.with({ signal, wait: false });
  try {
    await pause(touchPollMs, signal);
    await poll(
      async () => {
        const { list } = await client.call('listKeys');
        return list.find(key => key.keyId === keyId)?.proving === 'touch' || null;
      },
      { everyMs: touchPollMs, signal },
    );
    out.progress.clear();
    // With --json standard error holds only JSON.
    if (!out.json) out.notice(out.tint('cyan', 'Touch the key when it blinks.'));
  } catch {
    // The proof or its request was ended, or the limit is reached.
  }
}

const tooOld = (what: string): Fault =>
  failure(`${what} has an earlier version, which cannot prove keys`, 'see the versions: devmgr version');

/** Why a key did not prove more, in one sentence; empty if it is not known. */
export const reasonOf = ({ problem, reason, proof }: KeyVerdict): string =>
  problem ?? reason ?? proof.warnings?.[0] ?? '';
