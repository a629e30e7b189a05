/** Has a key that an enrollment has bound to its person sign its hand-over. */
import type { EnrollmentOutcome } from '../../../../enrollment/outcome.ts';
import type { NumberedKey } from '../../../../enrollment/registry.ts';
import type { Context } from '../../../framework/context.ts';
import { signedReceipt } from './signing.ts';

/** What is signed, by whom. */
interface Handover {
  readonly terms: string;
  readonly person: string | null;
}

/** The key stays bound if it does not sign: its row has the reason, and counts as failed. A key that is not bound or not issued is not asked. */
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
  const said = (text: string) => (row.message === null ? text : `${row.message}; ${text}`);
  try {
    const receiptId =
      (await earlierReceipt(context, deviceId, { terms, person })) ??
      (await signedReceipt(context, key, { deviceId, kind: 'handover', terms })).receiptId;
    return { ...row, receiptId, message: said(`receipt ${receiptId}`) };
  } catch (error) {
    if (context.io.interrupt.aborted) throw error;
    const message = said(`receipt: ${(error as Error).message}. Plug it in again to continue`);
    return { ...row, receiptId: null, result: 'failed', message };
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
