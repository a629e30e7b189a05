/** What a run would do, line by line, without doing it. */
import { type Existing, ImportPlan } from '../../../../enrollment/import/plan.ts';
import type { LineResult } from '../../../../enrollment/import/result.ts';
import { count, counted } from '../../../count.ts';
import { exitCodes } from '../../../exit-codes.ts';
import { interrupted } from '../../../fault.ts';
import type { Context } from '../../../framework/context.ts';
import { devicesBySerial } from '../../../framework/devices/find-device.ts';
import type { ResultWriter } from '../../../jobs/result-writer.ts';
import type { ImportFiles } from './checkpoint.ts';
import type { Input } from './input.ts';

/** Results that are written at once. */
const resultsPerWrite = 1_000;

type DryRunCounts = Record<'new' | 'registered' | 'invalid', number>;

/** Plans `register --file`: which rows are new, registered or invalid. Changes nothing on the server. */
export class DryRun {
  readonly #context: Context;
  readonly #writer: ResultWriter<LineResult>;
  readonly #files: ImportFiles;
  readonly #plan: ImportPlan;
  readonly #counts: DryRunCounts = { new: 0, registered: 0, invalid: 0 };

  /** With `skipExisting`, rows of registered devices that differ from them are invalid. */
  constructor(context: Context, writer: ResultWriter<LineResult>, files: ImportFiles, skipExisting: boolean) {
    this.#context = context;
    this.#plan = new ImportPlan(skipExisting);
    this.#writer = writer;
    this.#files = files;
  }

  /** Writes one result per row. The exit code. */
  async run(input: Input): Promise<number> {
    const results: LineResult[] = [];
    for await (const row of input.rows) {
      if (this.#context.io.interrupt.aborted) throw interrupted();
      results.push(this.#plan.add(row));
    }
    await this.#write(results, await devicesBySerial(this.#context, this.#plan.serials));
    const { new: fresh, registered, invalid } = this.#counts;
    const { hidden } = this.#writer;
    if (hidden > 0)
      this.#context.out.notice(
        `${counted(hidden, 'more line is', 'more lines are')} not shown; --out FILE writes all.`,
      );
    if (!this.#context.globals.json)
      this.#context.out.notice(
        `Dry run: ${count(fresh)} new, ${count(registered)} already registered, ${count(invalid)} invalid. Nothing was changed.`,
      );
    return invalid > 0 ? exitCodes.partial : exitCodes.done;
  }

  async #write(results: readonly LineResult[], registered: ReadonlyMap<string, Existing>): Promise<void> {
    for (let start = 0; start < results.length; start += resultsPerWrite) {
      const part = results
        .slice(start, start + resultsPerWrite)
        .map(result => this.#plan.withDevice(result, registered));
      for (const { status } of part) this.#counts[status as keyof DryRunCounts]++;
      this.#files.write(part);
      await this.#writer.write(part);
    }
    this.#files.finish();
  }
}
