/**
 * Keys of a file of results that the registry does not have as the file reports: it was restored from an earlier backup.
 * `enroll --redeliver` registers them again.
 */
import { optionalTexts } from '../../../../contract/device-description.ts';
import type { DeviceListItem } from '../../../../contract/devices.ts';
import { isSameName } from '../../../../contract/person-key.ts';
import type { DeviceType } from '../../../../contract/values.ts';
import { KeyEnrollment } from '../../../../enrollment/key-enrollment.ts';
import type { EnrollmentOutcome } from '../../../../enrollment/outcome.ts';
import { fewOf } from '../../../../tables/text.ts';
import { newKey } from '../../../client/request-retry.ts';
import { count, counted } from '../../../count.ts';
import { exitCodes } from '../../../exit-codes.ts';
import { interrupted, usage } from '../../../fault.ts';
import { type Context, notify } from '../../../framework/context.ts';
import { devicesBySerial } from '../../../framework/devices/find-device.ts';
import { isRegular } from '../../../jobs/input-file.ts';
import { type ResultRow, resultRows, tagsIn } from '../../../jobs/result-rows.ts';
import { errorAfter } from '../../../jobs/send.ts';
import { safe, shellWord } from '../../../terminal/text.ts';
import { keyOf, optionsOf, rowOf, type SpoolEntry } from '../spool/lines.ts';
import { enrollmentParts, isAway } from './enrollment-parts.ts';
import { showRow } from './report.ts';
import { EnrollFile, isDone } from './results.ts';

/** A key that was registered. */
interface Lacking {
  readonly row: ResultRow;
  readonly deviceType: DeviceType;
  readonly serialNumber: string;
  /** For whom it was activated; null if it was not. */
  readonly userId: string | null;
}

/** By serial number, in the order of the file. Throws a usage fault if the file is none of `enroll`. */
async function lackingKeys(context: Context, file: string): Promise<ReadonlyMap<string, Lacking>> {
  const keys = new Map<string, Lacking>();
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
const isLacking = ({ userId }: Lacking, device: DeviceListItem | undefined): boolean =>
  device === undefined || (userId !== null && !isSameName(device.userId, userId));

/**
 * The serial numbers of these keys for a run that continues the file: they do not count, and a warning names them. None if the registry
 * is away and keys can wait for it (`isSpooling`).
 */
export async function uncounted(context: Context, file: string, isSpooling: boolean): Promise<ReadonlySet<string>> {
  let lacking: ReadonlyMap<string, Lacking>;
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

/**
 * `enroll --redeliver`: registers these keys again, without the keys. Each has a new row in the file, with its new activation code.
 * Resolves to the exit code: 7 if some keys failed.
 */
export async function redeliver(context: Context, path: string, dryRun: boolean): Promise<number> {
  if (!isRegular(path)) throw usage(`${path} does not exist`, 'give a file that enroll --out has written');
  const file = EnrollFile.open(context, path, { proof: null, tags: null, isSpooled: true });
  try {
    const lacking = await lackingKeys(context, path);
    const isComplete = await broughtBack(context, lacking.values(), dryRun ? null : file);
    if (lacking.size === 0) notify(context, `The registry has all keys of ${safe(path)}.`);
    return isComplete ? exitCodes.done : exitCodes.partial;
  } finally {
    file.close();
  }
}

/** Whether no key failed. `file` is null for a dry run. */
async function broughtBack(context: Context, keys: Iterable<Lacking>, file: EnrollFile | null): Promise<boolean> {
  const counts = { back: 0, failed: 0 };
  const words = () => {
    const failed = counts.failed === 0 ? '' : `, ${count(counts.failed)} failed`;
    return `${counted(counts.back, 'key')} ${file === null ? 'would be restored' : 'restored'}${failed}`;
  };
  try {
    for (const key of keys) {
      if (context.io.interrupt.aborted) throw interrupted();
      const row = await registeredAgain(context, key, file === null);
      counts[row.result === 'failed' ? 'failed' : 'back']++;
      await file?.add(row);
      await showRow(context, row);
    }
  } catch (error) {
    throw errorAfter(error, words(), null);
  }
  if (counts.back + counts.failed > 0) notify(context, `${words()}.`);
  return counts.failed === 0;
}

async function registeredAgain(context: Context, key: Lacking, dryRun: boolean): Promise<EnrollmentOutcome> {
  const entry = spoolEntryOf(key);
  // Ctrl-C lets the request under way end: its result is not lost.
  const { registry, words } = enrollmentParts(context, context.registry.with({ finish: true }));
  const bySerial = { ...registry, deviceOf: () => registry.find(key.serialNumber) };
  const enrollment = new KeyEnrollment({ registry: bySerial, words }, { ...optionsOf(entry), dryRun });
  const outcome = await enrollment.handle(keyOf(entry));
  // The key has another user now, or it is registered and could not be activated.
  return rowOf(entry, outcome.message === null ? outcome : { ...outcome, result: 'failed' });
}

/** The key of a row, as the keys of a spool file wait. */
function spoolEntryOf({ row, deviceType, serialNumber, userId }: Lacking): SpoolEntry {
  const text = (name: string) => (typeof row[name] === 'string' && row[name] !== '' ? row[name] : null);
  const versions = optionalTexts.flatMap(name => (text(name) === null ? [] : [[name, text(name)]]));
  const tags = tagsIn(row);
  return {
    id: newKey(),
    at: new Date().toISOString(),
    registration: {
      deviceType,
      serialNumber,
      manufacturer: text('manufacturer') ?? '',
      model: text('model') ?? '',
      ...Object.fromEntries(versions),
      ...(Object.keys(tags).length === 0 ? {} : { tags }),
    },
    userId,
    ...('name' in row ? { name: text('name') } : {}),
    serialSource: text('serialSource'),
    simulated: row.simulated === true || row.simulated === 'true',
    label: false,
  };
}
