/** One run of `register --file`: reads rows, sends batches, writes one result per row. */
import type { Tags } from '../../../../contract/tags.ts';
import { batchesOf, lineResults } from '../../../../enrollment/import/batches.ts';
import type { LineResult } from '../../../../enrollment/import/result.ts';
import type { Row } from '../../../../enrollment/import/row.ts';
import { type Position, positionText } from '../../../../enrollment/import/text.ts';
import { newKey } from '../../../client/keyed-write.ts';
import { type Context, notify } from '../../../framework/context.ts';
import { JobRun } from '../../../jobs/job-run.ts';
import { type Checkpoint, emptyCheckpoint, type ImportFiles, skipDoneRows } from './checkpoint.ts';
import { duplicated, withEarlierSuccesses, withExisting } from './existing.ts';
import type { Input } from './input.ts';
import { writerOf } from './results.ts';
import { doneWords, endOf, progressOf, registeredWords, resultsNote } from './run-report.ts';

/** The flags of `register --file`. */
export interface FileFlags {
  readonly file: string;
  readonly format: string | undefined;
  readonly encoding: string | undefined;
  readonly map: string | undefined;
  readonly type: string | undefined;
  readonly manufacturer: string | undefined;
  readonly model: string | undefined;
  readonly tags: Tags;
  readonly out: string | undefined;
  readonly dryRun: boolean;
  readonly skipExisting: boolean;
  readonly resume: boolean;
  readonly force: boolean;
  readonly batchSize: number | undefined;
  readonly csv: boolean;
}

const defaultBatchSize = 2_000;

/** Registers the devices of an input. Used once. */
export class FileRun {
  readonly #flags: FileFlags;
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
  /** Those of them that failed because the serial number is already registered. */
  #duplicates = 0;
  /** Bytes of the input that an earlier run has done. */
  #skipped = 0;

  constructor(flags: FileFlags, context: Context, input: Input, files: ImportFiles) {
    this.#flags = flags;
    this.#context = context;
    this.#input = input;
    this.#files = files;
    this.#run = new JobRun(context, files, writerOf(context, flags.csv, flags.out !== undefined));
  }

  /** The exit code. Throws a fault of kind `partial` if some rows failed. */
  async run(): Promise<number> {
    await this.#run.run({
      batches: this.#batches(),
      carryOut: rows => this.#register(rows),
      done: isUncertain => doneWords(this.#state, isUncertain, this.#note),
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
        'Progress cannot be saved beside the file: its folder is not writable. --resume will not work.',
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
      notify(this.#context, `Continuing after ${positionText(last)} (${registeredWords(this.#state)} before it).`);
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

  #progress(): void {
    const text = progressOf({
      file: this.#flags.file,
      rows: this.#state.rows,
      lines: this.#lines,
      seconds: this.#seconds,
      taken: this.#input.consumed(),
      skipped: this.#skipped,
    });
    this.#context.out.progress.say(text);
  }

  get #seconds(): number {
    return (performance.now() - this.#started) / 1000;
  }

  get #note(): string {
    return resultsNote(this.#flags.out, this.#unwritten);
  }

  #end(): number {
    const { seconds, words } = { seconds: this.#seconds, words: this.#note };
    const areDuplicates = !this.#flags.skipExisting && this.#duplicates === this.#state.failed;
    notify(this.#context, endOf(this.#state, { isNothing: this.#lines === 0, areDuplicates, seconds, note: words }));
    return 0;
  }
}
