/** Keys of a file of results that the registry does not have as the file reports: it was restored from an earlier backup. */
import type { DeviceListItem } from '../../../../contract/devices.ts';
import type { DeviceType } from '../../../../contract/values.ts';
import { fewOf } from '../../../../enrollment/import/columns.ts';
import { counted } from '../../../count.ts';
import type { Context } from '../../../framework/context.ts';
import { devicesBySerial } from '../../../framework/devices/find-device.ts';
import { type ResultRow, resultRows } from '../../../jobs/result-rows.ts';
import { safe, shellWord } from '../../../terminal/text.ts';
import { isAway } from './enrollment-parts.ts';
import { type EnrollFile, isDone } from './results.ts';

/** A key that was registered. */
export interface LackingKey {
  readonly row: ResultRow;
  readonly deviceType: DeviceType;
  readonly serialNumber: string;
  /** For whom it was activated; null if it was not. */
  readonly userId: string | null;
}

/** By serial number, in the order of the file. Throws a usage fault if the file is none of `enroll`. */
export async function lackingKeys(context: Context, file: string): Promise<ReadonlyMap<string, LackingKey>> {
  const keys = new Map<string, LackingKey>();
  for await (const row of resultRows(file, () => undefined)) {
    const { result, status, deviceType, serialNumber, userId } = row;
    if (!isDone(result) || typeof serialNumber !== 'string' || serialNumber === '') continue;
    const holder = status === 'ACTIVE' && typeof userId === 'string' && userId !== '' ? userId : null;
    keys.set(serialNumber, { row, deviceType: deviceType as DeviceType, serialNumber, userId: holder });
  }
  const devices = await devicesBySerial(context, new Set(keys.keys()));
  return new Map([...keys].filter(([serialNumber, key]) => isLacking(key, devices.get(serialNumber))));
}

/** A device that was locked or deactivated since then keeps its user. */
const isLacking = ({ userId }: LackingKey, device: DeviceListItem | undefined): boolean =>
  device === undefined || (userId !== null && device.userId !== userId);

/**
 * The serial numbers of these keys for a run that continues the file: they do not count, and a warning names them. None without a file, and if
 * the registry is away and keys can wait for it (`isSpooling`).
 */
export async function uncounted(
  context: Context,
  results: EnrollFile | null,
  isSpooling: boolean,
): Promise<ReadonlySet<string>> {
  if (!results?.isContinued) return new Set();
  const { path: file } = results;
  let lacking: ReadonlyMap<string, LackingKey>;
  try {
    lacking = await lackingKeys(context, file);
  } catch (error) {
    if (isSpooling && isAway(error)) return new Set();
    throw error;
  }
  if (lacking.size > 0) {
    const names = [...lacking.values()].map(({ serialNumber, userId }) =>
      userId === null ? serialNumber : `${serialNumber} of ${userId}`,
    );
    const not = lacking.size === 1 ? 'it does not count' : 'they do not count';
    context.out.warn(
      safe(
        `the registry lacks ${counted(lacking.size, 'key')} of ${file}, so ${not}: ${fewOf(names)}. To register and activate them again, without plugging them in: devmgr enroll --redeliver ${shellWord(file)}`,
      ),
    );
  }
  return new Set(lacking.keys());
}
