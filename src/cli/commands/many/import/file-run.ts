/** One run of `register --file`: reads rows, sends batches, writes one result per row. */
import { statSync } from 'node:fs';
import { batchesOf, lineResults } from '../../../../enrollment/import/batches.ts';
import type { LineResult } from '../../../../enrollment/import/result.ts';
import type { Row } from '../../../../enrollment/import/row.ts';
import { type Position, positionText } from '../../../../tables/raw.ts';
import { newKey } from '../../../client/request-retry.ts';
import { count, counted } from '../../../count.ts';
import { Fault } from '../../../fault.ts';
import { type Context, notify } from '../../../framework/context.ts';
import { JobRun } from '../../../jobs/job-run.ts';
import { duration, spent } from '../../../terminal/when.ts';
import { type Checkpoint, emptyCheckpoint, type ImportFiles, skipDoneRows } from './checkpoint.ts';
import { duplicated, withEarlierSuccesses, withExisting } from './existing.ts';
import type { FileValues } from './flags.ts';
import { writerOf } from './results.ts';

const defaultBatchSize = 2_000;

/** An input file that is being read. */
export interface Input {
  /** Bytes of the consumed rows. Bytes that were read ahead do not count. */
  readonly consumed: () => number;
  readonly rows: AsyncGenerator<Row>;
}

/** Registers the devices of an input. Used once. */
export class FileRun {
  readonly #flags: FileValues;
  readonly #context: Context;
  readonly #input: Input;
  readonly #files: ImportFiles;
  readonly #run: JobRun<LineResult, Checkpoint>;
  #started = performance.now();
  #state: Checkpoint = emptyCheckpoint;
  /** Rows after this position are registered but have no result in the file; null if all have one. */
  #unwritten: Position | null = null;
  /** Results of this run alone. */
  #lines = 0;
  /** Results that failed because the serial number is already registered. */
  #duplicates = 0;
  /** Bytes of the input that an earlier run has done. */
  #skipped = 0;

  constructor(flags: FileValues, context: Context, input: Input, files: ImportFiles) {
    this.#flags = flags;
    this.#context = context;
    this.#input = input;
    this.#files = files;
    this.#run = new JobRun(context, files, writerOf(context, flags));
  }

  /** The exit code. Throws a fault of kind `partial` if some rows failed. */
  async run(): Promise<number> {
    await this.#run.run({
      batches: this.#batches(),
      carryOut: rows => this.#register(rows),
      done: isUncertain => this.#doneWords(isUncertain),
    });
    return this.#end();
  }

  async *#batches(): AsyncGenerator<readonly Row[]> {
    await this.#start();
    // Fails early if the server is unreachable or the login is not valid, before anything is read.
    await this.#context.registry.call('listDevices', { query: { size: 1 } });
    this.#started = performance.now();
    this.#skipped = this.#input.consumed();
    yield* batchesOf(this.#input.rows, this.#flags.batchSize ?? defaultBatchSize, this.#state.pending?.rows);
  }

  async #start(): Promise<void> {
    const { out, resume, force, file } = this.#flags;
    const files = this.#files;
    const copy = force ? files.setAside() : null;
    if (copy !== null) notify(this.#context, `${files.results} was renamed to ${copy}.`);
    if (resume) await this.#resume();
    if (!files.canContinue && (out === undefined ? file !== '-' : files.results !== null))
      notify(
        this.#context,
        'Progress cannot be saved next to the file: its folder is not writable. --resume will not work.',
      );
    files.open();
  }

  async #resume(): Promise<void> {
    const earlier = await skipDoneRows(this.#input.rows, this.#files);
    if (earlier === null)
      return notify(this.#context, 'No earlier run of this input was found: starting with the first line.');
    this.#state = earlier;
  }

  /** Printed only if something is left to do. */
  #reportContinuation(): void {
    const { rows, last } = this.#state;
    if (rows > 0 && this.#lines === 0)
      notify(this.#context, `Continuing after ${positionText(last)} (${this.#registeredWords(', ')} before it).`);
  }

  async #register(rows: readonly Row[]): Promise<void> {
    this.#reportContinuation();
    const { pending, last } = this.#state;
    const key = pending?.key ?? newKey();
    // If the program is killed after this, --resume sends the same batch with the same key.
    this.#files.store({ ...this.#state, pending: { key, rows: rows.length } });
    const lines = await this.#send(rows, key, pending !== null);
    this.#count(rows, lines);
    this.#unwritten = last;
    this.#run.keep(lines, this.#state);
    this.#unwritten = null;
    await this.#run.show(lines, this.#state);
    this.#progress();
  }

  #count(rows: readonly Row[], lines: readonly LineResult[]): void {
    const having = (status: LineResult['status']) => lines.filter(line => line.status === status).length;
    this.#lines += lines.length;
    this.#duplicates += lines.filter(line => line.code === duplicated).length;
    this.#state = {
      rows: this.#state.rows + rows.length,
      last: rows.at(-1)!.position,
      success: this.#state.success + having('success'),
      registered: this.#state.registered + having('registered'),
      repeated: this.#state.repeated + having('repeated'),
      failed: this.#state.failed + having('failed'),
      pending: null,
    };
  }

  async #send(rows: readonly Row[], key: string, sentBefore: boolean): Promise<readonly LineResult[]> {
    const devices = rows.flatMap(row => ('device' in row ? [row.device] : []));
    if (devices.length === 0) return lineResults(rows, []);
    const { results, isRepeat } = await this.#run.sender.send({
      key,
      count: devices.length,
      sentBefore,
      // A serial number is registered once.
      isRepeatable: true,
      send: (client, attemptKey) =>
        client.send({
          operation: 'batchRegisterDevices',
          key: attemptKey,
          input: { body: { devices } },
          retry: 'unsent',
        }),
    });
    let lines = lineResults(rows, results);
    if (isRepeat) lines = await withEarlierSuccesses(this.#context, rows, lines);
    return this.#flags.skipExisting ? withExisting(this.#context, rows, lines) : lines;
  }

  /** Percent and time left need the size of the input, which a pipe does not have. */
  #progress(): void {
    const { file } = this.#flags;
    const [seconds, skipped, taken] = [this.#seconds, this.#skipped, this.#input.consumed()];
    const stats = file === '-' ? undefined : statSync(file, { throwIfNoEntry: false });
    const size = stats?.isFile() ? stats.size : 0;
    const rate = `${count(Math.round(this.#lines / Math.max(seconds, 0.001)))} lines/s`;
    const left = stats?.isFile() && taken > skipped ? (seconds * Math.max(0, size - taken)) / (taken - skipped) : null;
    const percent = size > 0 ? `${Math.floor((100 * Math.min(taken, size)) / size)}%  ` : '';
    const end = left === null ? '' : `  ${duration(left)} left`;
    this.#context.out.progress.say(`Registering  ${percent}${count(this.#state.rows)} lines  ${rate}${end}`);
  }

  get #seconds(): number {
    return (performance.now() - this.#started) / 1000;
  }

  /** Where the results are. */
  get #note(): string {
    const { out } = this.#flags;
    if (out === undefined) return '';
    if (this.#unwritten === null) return `; results are in ${out}`;
    if (this.#unwritten.line === 0) return `; ${out} has no results of them`;
    return `; ${out} has the results up to ${positionText(this.#unwritten)}`;
  }

  get #existing(): string {
    const { registered, repeated } = this.#state;
    const existing = registered > 0 ? `, ${count(registered)} already registered` : '';
    return repeated > 0 ? `${existing}, ${count(repeated)} repeated` : existing;
  }

  /** `3 registered and 1 failed`, with the devices that were registered before if there are any. */
  #registeredWords(last: string): string {
    const { success, failed } = this.#state;
    return `${count(success)} registered${this.#existing}${last}${count(failed)} failed`;
  }

  /** Work done when the run stops; null if none. `isUncertain`: a batch was sent and got no response. */
  #doneWords(isUncertain: boolean): string | null {
    const { rows, last } = this.#state;
    if (rows > 0) return `${this.#registeredWords(' and ')} up to ${positionText(last)}${this.#note}`;
    return isUncertain ? 'the devices that were sent may have been registered' : null;
  }

  /** Reports a run that has read its whole input. Throws a fault of kind `partial` if rows failed. */
  #end(): number {
    const { success, registered, repeated, failed } = this.#state;
    const isNothing = this.#lines === 0;
    const all = counted(success + registered + repeated + failed, 'line');
    const devices = counted(success, 'device');
    if (failed > 0)
      throw new Fault(
        'partial',
        `${isNothing ? 'nothing to do: ' : ''}${count(failed)} of ${all} failed, ${devices} ${success === 1 ? 'is' : 'are'} registered${this.#existing}${this.#note}`,
        !this.#flags.skipExisting && this.#duplicates === failed
          ? 'nothing to fix: those serial numbers are already registered; --skip-existing counts them as done'
          : 'each result has a line number and a reason; fix those lines and register them again',
      );
    notify(
      this.#context,
      isNothing
        ? `Nothing to do: all ${all} are done${this.#note}.`
        : `${devices} registered${this.#existing}${spent(this.#seconds)}${this.#note}.`,
    );
    return 0;
  }
}
