/** Has an attached key sign a receipt: a text of the registry, what the key signs, and the stored receipt. */
import type { BodyOf, DataOf } from '../../../contract/define.ts';
import { relyingParty } from '../../../contract/key-values.ts';
import type { Receipt } from '../../../contract/receipts.ts';
import type { Routes } from '../../../contract/routes.ts';
import { IssueProblem } from '../../../enrollment/issue-step.ts';
import { type EnrollmentOutcome, remarked } from '../../../enrollment/outcome.ts';
import type { NumberedKey } from '../../../enrollment/registry.ts';
import { Fault, failure } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { recognitionOf } from '../../framework/devices/registration.ts';
import { safe } from '../../terminal/text.ts';
import { proveKey, reasonOf, whileTouched } from '../proofs/prove-key.ts';

/** Statement of the receipt. */
type Body = BodyOf<Routes['createReceipt']>;
type CreatedReceipt = DataOf<Routes['createReceipt']>;
type SignedReceipt = DataOf<Routes['signReceipt']>;

/** The stored receipt. A key without a credential that may sign makes one first, by a proof. */
export async function signedReceipt(context: Context, key: NumberedKey, wanted: Body): Promise<Receipt> {
  const { registry } = context;
  const create = () => registry.call('createReceipt', { body: wanted });
  let made = await create();
  if (made.problem) throw failure(`${NOT_TRUSTED}: ${made.problem}`, KNOWN_BY_CREDENTIAL);
  const isRecognized = made.relyingParty !== relyingParty;
  const identity = isRecognized ? null : await provedAsDevice(context, key);
  let signed = made.credentials.length > 0 ? await sign(context, key, made) : null;
  // After a reset the key knows none of its credentials. What comes back must be what was issued.
  if (signed === null || (signed.failure === 'unavailable' && wanted.kind !== 'return' && !isRecognized)) {
    await proveFor(context, key);
    made = await create();
    if (made.credentials.length === 0) throw failure(NOT_TRUSTED, KNOWN_BY_CREDENTIAL);
    signed = await sign(context, key, made);
  }
  const { assertion, problem } = signed;
  if (assertion === null)
    throw new Fault('hardware', `the key has not signed: ${problem}`, 'see: devmgr help receipts add');
  const { receiptId, text } = made;
  return registry.call('submitReceipt', {
    params: { receiptId },
    body: { text, ...assertion, ...(identity && { identity }) },
  });
}

const NOT_TRUSTED = 'the registry accepts a receipt only from a key that was proved with grade model or unit';

const KNOWN_BY_CREDENTIAL =
  'see: devmgr trust list. A key that was enrolled with a credential signs without: devmgr policies update --identity required';

/** A receipt of a credential by which the key is recognized is that proof. */
async function provedAsDevice(context: Context, key: NumberedKey) {
  return whileTouched(context, key, () => recognitionOf(context).prove(key, 'receipt')).catch(error => {
    throw error instanceof IssueProblem ? new Fault('hardware', error.message, 'see: devmgr help receipts add') : error;
  });
}

const sign = (
  context: Context,
  key: NumberedKey,
  { text, credentials, relyingParty }: CreatedReceipt,
): Promise<SignedReceipt> => {
  const { keyId, serialNumber } = key;
  context.out.progress.say(`Signing with ${safe(serialNumber)}`);
  const request = { params: { keyId }, body: { serialNumber, text, credentials, relyingParty } };
  return whileTouched(context, key, () => context.hardware.call('signReceipt', request));
};

async function proveFor(context: Context, key: NumberedKey): Promise<void> {
  const verdict = await proveKey(context, key, { method: 'fido', forReceipt: true });
  if (verdict.proof.grade !== 'model' && verdict.proof.grade !== 'unit')
    throw new Fault('hardware', `the key has not proved what it is: ${reasonOf(verdict)}`, 'see: devmgr help verify');
}

/** Text to sign, and the signer. */
type Handover = Pick<Body, 'terms'> & { readonly person: string | null };

/** A key that does not sign stays bound: its row has the reason and counts as failed. Only issued, bound keys are asked. */
export async function receiptRow(
  context: Context,
  { terms, person }: Handover,
  key: NumberedKey,
  row: EnrollmentOutcome,
): Promise<EnrollmentOutcome> {
  const { deviceId, status, userId } = row;
  const isBound = status === 'ACTIVE' && userId !== null && userId === person;
  const isIssued = Object.values(row.providers ?? {}).every(state => state === 'issued');
  if (!isBound || !isIssued || deviceId === null) return row;
  try {
    const receiptId =
      (await earlierReceipt(context, deviceId, { terms, person })) ??
      (await signedReceipt(context, key, { deviceId, kind: 'handover', terms })).receiptId;
    return { ...remarked(row, `receipt ${receiptId}`), receiptId };
  } catch (error) {
    if (context.io.interrupt.aborted) throw error;
    const why = `receipt: ${(error as Error).message}. Plug it in again to continue`;
    return { ...remarked(row, why), receiptId: null, result: 'failed' };
  }
}

/** A run that ended before it had written the row has left the receipt. Null if the last receipt of the device is another one. */
async function earlierReceipt({ registry }: Context, deviceId: string, { terms, person }: Handover) {
  const { list } = await registry.call('listReceipts', { query: { deviceId, size: 1 } });
  const last = list[0];
  if (last?.kind !== 'handover' || last.person !== person) return null;
  const { receiptId } = last;
  return (await registry.call('getReceipt', { params: { receiptId } })).terms === terms ? receiptId : null;
}
