/** What a run would do, line by line, without doing it. */
import { differencesOf } from '../../../../enrollment/same-device.ts';
import { count, counted } from '../../../count.ts';
import { exitCodes } from '../../../exit-codes.ts';
import { interrupted } from '../../../fault.ts';
import type { Context } from '../../../framework/context.ts';
import { devicesBySerial } from '../../../framework/devices/find-device.ts';
import { positionText } from '../../../jobs/line-number.ts';
import type { ResultWriter } from '../../../jobs/result-writer.ts';
import { invalidResult } from './batches.ts';
import type { ImportFiles } from './checkpoint.ts';
import { type Existing, existingResult, existsWords } from './existing.ts';
import type { LineResult } from './results.ts';
import type { Row } from './row.ts';
import type { Input } from './rows.ts';

/** Results that are written at once. */
const resultsPerWrite = 1_000;

type DryRunCounts = Record<'new' | 'registered' | 'invalid', number>;

type Sent = Extract<Row, { readonly device: unknown }>;

/** Plans `register --file`: which rows are new, registered or invalid. Changes nothing on the server. */
export class DryRun {
  readonly #context: Context;
  readonly #writer: ResultWriter<LineResult>;
  readonly #files: ImportFiles;
  readonly #skipExisting: boolean;
  /** The row in which each serial number first appears. */
  readonly #rows = new Map<string, Sent>();
  readonly #counts: DryRunCounts = { new: 0, registered: 0, invalid: 0 };

  /** With `skipExisting`, rows of registered devices that differ from them are invalid. */
  constructor(context: Context, writer: ResultWriter<LineResult>, files: ImportFiles, skipExisting: boolean) {
    this.#context = context;
    this.#skipExisting = skipExisting;
    this.#writer = writer;
    this.#files = files;
  }

  /** Writes one result per row. The exit code. */
  async run(input: Input): Promise<number> {
    const results: LineResult[] = [];
    for await (const row of input.rows) {
      if (this.#context.io.interrupt.aborted) throw interrupted();
      results.push(this.#judge(row));
    }
    await this.#write(results, await devicesBySerial(this.#context, new Set(this.#rows.keys())));
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

  #judge(row: Row): LineResult {
    if (!('device' in row)) return invalidResult(row, 'invalid');
    const first = this.#rows.get(row.device.serialNumber);
    if (first !== undefined) return this.#duplicate(row, first);
    this.#rows.set(row.device.serialNumber, row);
    return { ...row.position, serialNumber: row.serialNumber, status: 'new', message: 'would be registered' };
  }

  /** When this row is sent, the first one with its serial number is registered. */
  #duplicate(row: Sent, first: Sent): LineResult {
    const problem = `duplicate of ${positionText(first.position)}`;
    if (this.#skipExisting && differencesOf(row.device, first.device).length === 0)
      return { ...row.position, serialNumber: row.serialNumber, status: 'registered', message: problem };
    return invalidResult({ ...row, field: 'serialNumber', problem }, 'invalid');
  }

  async #write(results: readonly LineResult[], registered: ReadonlyMap<string, Existing>): Promise<void> {
    for (let start = 0; start < results.length; start += resultsPerWrite) {
      const part = results.slice(start, start + resultsPerWrite).map(result => this.#withDevice(result, registered));
      for (const { status } of part) this.#counts[status as keyof DryRunCounts]++;
      this.#files.write(part);
      await this.#writer.write(part);
    }
    this.#files.finish();
  }

  #withDevice(result: LineResult, registered: ReadonlyMap<string, Existing>): LineResult {
    const serial = result.serialNumber ?? '';
    const existing = result.status === 'new' ? registered.get(serial) : undefined;
    if (existing === undefined) return result;
    const row = this.#rows.get(serial)!;
    if (this.#skipExisting) return existingResult(row, row.device, existing, { status: 'invalid' });
    return { ...result, status: 'registered', deviceId: existing.deviceId, message: existsWords(existing) };
  }
}
