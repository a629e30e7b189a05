/** The unfinished part of a binding that was interrupted, for people and for a row. */
import { isSameName } from '../../../../contract/person-key.ts';
import { columnOf, type EnrollmentOutcome } from '../../../../enrollment/outcome.ts';
import { fewOf } from '../../../../tables/text.ts';
import { counted } from '../../../count.ts';
import type { Context } from '../../../framework/context.ts';
import { enrollmentParts } from '../enroll/enrollment-parts.ts';
import type { SpoolEntry } from './lines.ts';

/** The keys that are unfinished, in a sentence. */
export const namedAs = (names: readonly string[]): string =>
  `${counted(names.length, 'key')} ${names.length === 1 ? 'is' : 'are'} unfinished: ${fewOf(names)}.`;

/** The key and its person. */
export const entryWords = ({ registration, userId }: SpoolEntry): string =>
  userId === null ? registration.serialNumber : `${registration.serialNumber} of ${userId}`;

/** The key, its person and its device, and the providers that have it. `row`: its last row; null before the first one. */
export function wordsOf(entry: SpoolEntry, row: EnrollmentOutcome | null): string {
  const device = row?.deviceId ? `${row.deviceId}, ` : '';
  const states = Object.entries(row?.providers ?? {}).map(([name, state]) =>
    state === 'issued' ? `issued at ${name}` : `missing at ${name}`,
  );
  const receipt = entry.then?.receipt && !row?.receiptId ? ['not signed'] : [];
  const state = [...states, ...(row?.status === 'ACTIVE' ? receipt : [])];
  return `${device}${entryWords(entry)}${state.length === 0 ? '' : `, ${state.join(', ')}`}`;
}

/**
 * The row of a key that is bound: whether it is issued and has signed as its run wanted. The registry repeats an answer that it has stored,
 * so the device is read: it may have been locked, or given to another person, after that.
 */
export async function handedOver(
  context: Context,
  { then }: SpoolEntry,
  row: EnrollmentOutcome,
): Promise<EnrollmentOutcome> {
  const { deviceId, status } = row;
  if (deviceId === null || status !== 'ACTIVE' || row.result === 'conflict') return row;
  const device = await context.registry.call('getDevice', { params: { deviceId } });
  if (device.status !== 'ACTIVE' || !isSameName(device.userId, row.userId)) {
    const { words } = enrollmentParts(context);
    return {
      ...row,
      result: 'conflict',
      status: device.status,
      userId: device.userId,
      message: words({ type: 'conflict', device }),
    };
  }
  if (then === undefined) return row;
  const credentials = await context.registry.call('listCredentials', { params: { deviceId } });
  const { list: all } = await context.registry.call('listProviders');
  const issuedAt = new Set(
    credentials.flatMap(({ providerId, removedAt, pending }) => (removedAt === null && !pending ? [providerId] : [])),
  );
  const isIssued = (column: string) => all.some(one => columnOf(one) === column && issuedAt.has(one.providerId));
  const providers = Object.fromEntries(
    then.providers.map(column => [column, isIssued(column) ? 'issued' : 'missing'] as const),
  );
  const receiptId = then.receipt ? await receiptOf(context, deviceId, row.userId) : null;
  const isDone = Object.values(providers).every(state => state === 'issued') && (!then.receipt || receiptId !== null);
  return {
    ...row,
    ...(isDone ? {} : { result: 'failed' }),
    ...(then.providers.length === 0 ? {} : { providers }),
    ...(then.receipt ? { receiptId } : {}),
  };
}

/** The handover that the device has signed last for the person; null if it has not. */
async function receiptOf({ registry }: Context, deviceId: string, person: string | null): Promise<string | null> {
  const { list } = await registry.call('listReceipts', { query: { deviceId, size: 1 } });
  return list[0]?.kind === 'handover' && list[0].person === person ? list[0].receiptId : null;
}
