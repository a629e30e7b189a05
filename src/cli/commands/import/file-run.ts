/** One run of `register --file`: reads rows, sends batches, writes one result per row. */

import { rmSync } from 'node:fs';
import type { BatchItem, Registration } from '../../../contract/devices.ts';
import type { Tags } from '../../../contract/tags.ts';
import { ServerRefusal } from '../../client/failures.ts';
import type { Context } from '../../context.ts';
import { Fault } from '../../fault.ts';
import { duplicated, newestDevice, numberOf, sendBatch } from './batch.ts';
import { batchesOf, lineResults } from './batches.ts';
import { withExisting } from './existing.ts';
import type { Checkpoint } from './ledger.ts';
import { type Position, positionText } from './line-number.ts';
import { fieldsOf, type LineResult, ResultFile, ResultWriter } from './results.ts';
import type { Row } from './row.ts';
import type { Input } from './rows.ts';
import { endOf, errorWithProgress, progressOf, registeredWords, resultsNote } from './run-report.ts';
import { backUp, emptyCheckpoint, notify, type RunFiles, skipDoneRows } from './start.ts';

/** The flags of `register --file`. */
export interface FileFlags {
  readonly file: string;
  readonly format: string | undefined;
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
  readonly #files: RunFiles;
  readonly #writer: ResultWriter;
  #started = performance.now();
  #file: ResultFile | null = null;
  #state: Checkpoint = emptyCheckpoint;
  /** The interrupted run may have sent the next batch. */
  #sentBefore = false;
  /** This run has sent a batch. */
  #sent = false;
  /** This run or the one before sent a batch and got no response. */
  #uncertain = false;
  /** Rows after this position are registered but have no result in the file; null if all have one. */
  #unwritten: Position | null = null;
  /** Results of this run alone. */
  #lines = 0;
  /** Those of them that failed because the serial number is already registered. */
  #duplicates = 0;
  /** Bytes of the input that an earlier run has done. */
  #skipped = 0;

  constructor(flags: FileFlags, context: Context, input: Input, files: RunFiles) {
    this.#flags = flags;
    this.#context = context;
    this.#input = input;
    this.#files = files;
    this.#writer = new ResultWriter(context, flags.csv, flags.out !== undefined);
  }

  /** The exit code. Throws a fault of kind `partial` if some rows failed. */
  async run(): Promise<number> {
    const { registry, io } = this.#context;
    try {
      await this.#start();
      // Also fails early if the server is unreachable or the login is not valid, before anything is read.
      const newest = await newestDevice(registry);
      if (!this.#sentBefore) this.#state = { ...this.#state, newest };
      this.#started = performance.now();
      this.#skipped = this.#input.consumed();
      for await (const batch of batchesOf(this.#input.rows, this.#flags.batchSize ?? defaultBatchSize)) {
        if (io.interrupt.aborted) break;
        this.#reportContinuation();
        await this.#register(batch);
        this.#progress();
        if (io.interrupt.aborted) break;
      }
      if (io.interrupt.aborted) throw new Fault('interrupted', 'interrupted');
      this.#file?.finish();
    } catch (error) {
      this.#removeEmptyFiles(error);
      throw errorWithProgress(error, {
        state: this.#state,
        isUncertain: this.#uncertain,
        canResume: this.#files.ledger !== null,
        note: this.#note,
      });
    } finally {
      this.#context.out.end();
      this.#file?.close();
    }
    this.#files.ledger?.remove();
    return this.#end();
  }

  async #start(): Promise<void> {
    const { out, resume, force } = this.#flags;
    const { ledger, lock } = this.#files;
    backUp(this.#flags, this.#context, this.#files);
    if (force) ledger?.remove();
    if (resume) await this.#resume();
    if (lock === null && ledger === null && (out === undefined ? this.#flags.file !== '-' : this.#files.results))
      notify(
        this.#context,
        'Progress cannot be saved beside the file: its folder is not writable. --resume will not work.',
      );
    if (out !== undefined)
      this.#file = new ResultFile(out, this.#context.globals.json, this.#state.resultBytes, fieldsOf);
  }

  async #resume(): Promise<void> {
    const earlier = await skipDoneRows(this.#input.rows, this.#files);
    if (earlier === null)
      return notify(this.#context, 'No earlier run of this input was found: starting with the first line.');
    this.#state = earlier.done;
    this.#sentBefore = earlier.sent;
  }

  /** Printed only if something is left to do. */
  #reportContinuation(): void {
    const { rows, last } = this.#state;
    if (rows > 0 && this.#lines === 0)
      notify(this.#context, `Continuing after ${positionText(last)} (${registeredWords(this.#state)} so far).`);
  }

  async #register(rows: readonly Row[]): Promise<void> {
    const items = rows.flatMap(row => ('device' in row ? [row.device] : []));
    const { ledger } = this.#files;
    // If the program is killed after this, --resume needs the checkpoint to find what the batch registered.
    ledger?.write(this.#state);
    const sent = lineResults(rows, items.length ? await this.#send(items) : []);
    const lines = this.#flags.skipExisting ? await withExisting(this.#context, rows, sent) : sent;
    const { last } = this.#state;
    this.#count(rows, lines);
    this.#unwritten = last;
    this.#file?.write(lines);
    this.#unwritten = null;
    this.#state = { ...this.#state, resultBytes: this.#file?.size ?? 0 };
    // Without a file, only the reader of the output gets the codes: they count as done once they are written.
    if (this.#file) ledger?.write(this.#state);
    await this.#writer.write(lines);
    if (!this.#file) ledger?.write(this.#state);
  }

  #count(rows: readonly Row[], lines: readonly LineResult[]): void {
    const having = (status: LineResult['status']) => lines.filter(line => line.status === status).length;
    this.#lines += lines.length;
    this.#duplicates += lines.filter(line => line.code === duplicated).length;
    const successes = lines.filter(line => line.status === 'success');
    this.#state = {
      rows: this.#state.rows + rows.length,
      last: rows.at(-1)!.position,
      success: this.#state.success + successes.length,
      registered: this.#state.registered + having('registered'),
      failed: this.#state.failed + having('failed'),
      resultBytes: this.#state.resultBytes,
      newest: successes.reduce(
        (newest, { deviceId }) => Math.max(newest, numberOf(deviceId ?? '')),
        this.#state.newest,
      ),
    };
  }

  async #send(items: readonly Registration[]): Promise<readonly BatchItem[]> {
    const { registry } = this.#context;
    const sentBefore = this.#sentBefore;
    const isFirst = !this.#sent;
    this.#sentBefore = false;
    this.#sent = true;
    this.#uncertain ||= sentBefore;
    const results = await sendBatch({
      client: (isFirst ? registry : registry.pooled()).uninterruptible(),
      items,
      newest: this.#state.newest,
      sentBefore,
      onLost: () => {
        this.#uncertain = true;
      },
      notice: text => this.#context.out.notice(text),
    });
    if (results.length !== items.length)
      throw new Fault(
        'failure',
        `the server returned ${results.length} results for ${items.length} devices`,
        'check what is registered: devmgr list',
      );
    return results;
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

  /** Removes the files of a run that was refused before it could register anything. */
  #removeEmptyFiles(error: unknown): void {
    const maybeDone = !(error instanceof ServerRefusal) && (error as { maybeDone?: unknown }).maybeDone !== false;
    if (this.#state.rows > 0 || this.#sentBefore || this.#uncertain || (this.#sent && maybeDone)) return;
    this.#files.ledger?.remove();
    if (this.#file && this.#files.results !== null) rmSync(this.#files.results, { force: true });
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
