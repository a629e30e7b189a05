/** `enroll --redeliver`: registers again the keys of a file of results that the registry lacks, without the keys. */
import { optionalTexts } from '../../../../contract/device-description.ts';
import { KeyEnrollment } from '../../../../enrollment/key-enrollment.ts';
import type { EnrollmentOutcome } from '../../../../enrollment/outcome.ts';
import { newKey } from '../../../client/keyed-write.ts';
import { count, counted } from '../../../count.ts';
import { exitCodes } from '../../../exit-codes.ts';
import { interrupted, usage } from '../../../fault.ts';
import { type Context, notify } from '../../../framework/context.ts';
import { isRegular } from '../../../jobs/input-file.ts';
import { tagsIn } from '../../../jobs/result-rows.ts';
import { errorAfter } from '../../../jobs/send.ts';
import { safe } from '../../../terminal/text.ts';
import { keyOf, optionsOf, rowOf } from '../spool/entries.ts';
import type { SpoolEntry } from '../spool/lines.ts';
import { showRow } from './enrolled-words.ts';
import { enrollmentParts } from './enrollment-parts.ts';
import { type LackingKey, lackingKeys } from './lacking.ts';
import { EnrollFile } from './results.ts';

/** Each key has a new row in the file, with its new activation code. Resolves to the exit code: 7 if some keys failed. */
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
async function broughtBack(context: Context, keys: Iterable<LackingKey>, file: EnrollFile | null): Promise<boolean> {
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

async function registeredAgain(context: Context, key: LackingKey, dryRun: boolean): Promise<EnrollmentOutcome> {
  const entry = entryOf(key);
  // Ctrl-C lets the request under way end: its result is not lost.
  const { registry, words } = enrollmentParts(context, context.registry.with({ finish: true }));
  const bySerial = { ...registry, deviceOf: () => registry.find(key.serialNumber) };
  const enrollment = new KeyEnrollment({ registry: bySerial, words }, { ...optionsOf(entry), dryRun });
  const outcome = await enrollment.handle(keyOf(entry));
  // Somebody else has it now, or it is registered and could not be activated.
  return rowOf(entry, outcome.message === null ? outcome : { ...outcome, result: 'failed' });
}

/** The key of a row, as the keys of a spool file wait. */
function entryOf({ row, deviceType, serialNumber, userId }: LackingKey): SpoolEntry {
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
