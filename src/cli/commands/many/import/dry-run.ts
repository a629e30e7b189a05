/** Preview of a run, line by line. */
import { ImportPlan } from '../../../../enrollment/import/plan.ts';
import type { LineResult } from '../../../../enrollment/import/result.ts';
import { count, counted } from '../../../count.ts';
import { exitCodes } from '../../../exit-codes.ts';
import { interrupted } from '../../../fault.ts';
import type { Context } from '../../../framework/context.ts';
import { devicesBySerial } from '../../../framework/devices/find-device.ts';
import type { ImportFiles } from './checkpoint.ts';
import type { Input } from './file-run.ts';
import type { FileValues } from './flags.ts';
import { writerOf } from './results.ts';

/** Lines of each kind that are shown at a terminal. */
const mostEach = 20;
/** Results that are written at once. */
const resultsPerWrite = 1_000;
/**
 * Rows that are compared with the registry at once, each time with all of it: what is held of a file has a bound. In a large registry more
 * are, so that it is read at most twice as far as the file.
 */
const rowsAtOnce = (devices: number): number => Math.max(50_000, devices / 2);

/** Plans `register --file`: which rows are new, registered or invalid. Changes nothing on the server. Resolves to the exit code. */
export async function planFile(context: Context, flags: FileValues, input: Input, files: ImportFiles): Promise<number> {
  files.open();
  const writer = writerOf(context, flags, mostEach);
  const counts = { new: 0, registered: 0, repeated: 0, invalid: 0 };
  for await (const results of plannedIn(context, flags, input))
    for (let start = 0; start < results.length; start += resultsPerWrite) {
      const part = results.slice(start, start + resultsPerWrite);
      for (const { status } of part) counts[status as keyof typeof counts]++;
      files.write(part);
      await writer.write(part);
    }
  files.finish();
  if (writer.hidden > 0)
    context.out.notice(`${counted(writer.hidden, 'more line is', 'more lines are')} not shown; --out FILE writes all.`);
  if (!context.globals.json)
    context.out.notice(
      `Dry run: ${count(counts.new)} new, ${count(counts.registered)} already registered, ${count(counts.invalid)} invalid. Nothing was changed.`,
    );
  return counts.invalid > 0 ? exitCodes.partial : exitCodes.done;
}

/** The results of the rows, in portions. */
async function* plannedIn(context: Context, flags: FileValues, { rows }: Input): AsyncGenerator<readonly LineResult[]> {
  const { pagination } = await context.registry.call('listDevices', { query: { size: 1 } });
  const most = rowsAtOnce(pagination.total);
  for (let isDone = false; !isDone; ) {
    const plan = new ImportPlan(flags.skipExisting);
    const results: LineResult[] = [];
    while (results.length < most && !isDone) {
      if (context.io.interrupt.aborted) throw interrupted();
      const next = await rows.next();
      isDone = next.done === true;
      if (!next.done) results.push(plan.add(next.value));
    }
    const registered = await devicesBySerial(context, plan.serials);
    yield results.map(result => plan.withDevice(result, registered));
  }
}
