/**
 * Which credential of a list a key has, without a touch. Source: FIDO CTAP 2.1, 6.2 (authenticatorGetAssertion with `up: false`) and 6.4
 * (what a message and a list may have).
 */
import type { AssertionRequest, KeyAssertion, RecognizedKey } from '../driver.ts';
import { HardwareError } from '../hardware-error.ts';
import { type CborInput, cborMap } from './cbor-write.ts';
import type { Authenticator, PinToken } from './client-pin.ts';
import type { CtapChannel } from './connection.ts';
import { type AuthenticatorInfo, assertionIn, callCtap2, descriptor, getInfo } from './ctap2.ts';
import { allowParty, CTAP2, MOST_LOOKED_UP } from './gate.ts';
import { findU2f } from './u2f.ts';

/** Bytes of an entry of a list beside its id. */
const ENTRY_BYTES = 40;
/** The longest id (WebAuthn, 4). */
const ID_BYTES = 1023;

/** The ids in lists that the key takes. `otherBytes`: of the message beside its list. */
export function partsOf(
  ids: readonly Uint8Array[],
  { maxMessage, maxList }: Pick<AuthenticatorInfo, 'maxMessage' | 'maxList'>,
  otherBytes: number,
): Uint8Array[][] {
  const parts: Uint8Array[][] = [];
  let room = 0;
  for (const id of ids) {
    if (id.length > ID_BYTES) continue;
    room -= id.length + ENTRY_BYTES;
    if (room < 0 || parts.at(-1)!.length >= maxList) {
      parts.push([]);
      room = maxMessage - otherBytes - id.length - ENTRY_BYTES;
    }
    parts.at(-1)!.push(id);
  }
  return parts;
}

/** Null if the key has none of them. Fails with a HardwareError. */
export async function lookUp(
  key: Pick<Authenticator, 'send'>,
  { relyingParty, clientDataHash, credentials }: AssertionRequest,
  token: PinToken | null,
): Promise<KeyAssertion | null> {
  const parameters: readonly [number, CborInput | null][] = [
    [1, relyingParty],
    [2, clientDataHash],
    [3, credentials.map(descriptor)],
    [5, cborMap([['up', false]])],
    [6, token?.authenticate(clientDataHash) ?? null],
    [7, token?.protocol ?? null],
  ];
  const answer = await unlessMissing(key.send(CTAP2.GET_ASSERTION, parameters));
  return answer && assertionIn(answer, credentials);
}

/** Null if the key does not have the credential. */
export const unlessMissing = (answer: Promise<Uint8Array>): Promise<Uint8Array | null> =>
  answer.catch(error => {
    if (error instanceof HardwareError && error.data.refusal === 'no-credential') return null;
    throw error;
  });

/** Bytes of a question beside its list: the names of a relying party and of the members, a hash and the option. */
const QUESTION_BYTES = 200;

/** Implements `Driver.recognize` for a key whose FIDO interface is open. */
export async function recognizeOver(
  channel: CtapChannel,
  question: AssertionRequest,
  signal: AbortSignal,
): Promise<RecognizedKey | null> {
  allowParty(question.relyingParty);
  const info = await getInfo(channel, signal);
  if (info === null) return findU2f(channel, question, signal);
  const touch = new AbortController();
  const work = { signal: AbortSignal.any([signal, touch.signal]), onTouch: () => touch.abort() };
  const key: Pick<Authenticator, 'send'> = { send: (...message) => callCtap2(channel, ...message, work) };
  const limits = { ...info, maxList: Math.min(info.maxList, MOST_LOOKED_UP) };
  try {
    for (const credentials of partsOf(question.credentials, limits, QUESTION_BYTES)) {
      const assertion = await lookUp(key, { ...question, credentials }, null);
      if (assertion !== null) return { credentialId: assertion.credentialId, assertion };
    }
    return null;
  } catch (error) {
    throw touch.signal.aborted || needsPin(error) ? new HardwareError('unavailable', NOT_WITHOUT_TOUCH) : error;
  }
}

const needsPin = (error: unknown): boolean => error instanceof HardwareError && error.data.refusal === 'pin-required';

const NOT_WITHOUT_TOUCH =
  'this key does not report its credentials without a touch or its PIN: name the device by the number printed on the key';
