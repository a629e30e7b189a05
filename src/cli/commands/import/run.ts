/** `register --file`: reads rows, sends batches, writes one result per row. */
import { rmSync, statSync } from 'node:fs';
import type { BatchItem, Registration } from '../../../contract/devices.ts';
import { ServerRefusal } from '../../client/failures.ts';
import type { Context } from '../../context.ts';
import { Fault, usage } from '../../fault.ts';
import { duration } from '../../terminal/when.ts';
import { newestDevice, numberOf, sendBatch } from './batch.ts';
import { batchesOf, lineResults } from './batches.ts';
import { DryRun } from './dry-run.ts';
import type { Checkpoint } from './ledger.ts';
import { type Position, positionText } from './line-number.ts';
import { fieldsOf, type LineResult, ResultFile, ResultWriter } from './results.ts';
import { type Format, type Input, openInput, type Row } from './rows.ts';
import {
  backUpResults,
  checkInput,
  checkNothingLeft,
  emptyCheckpoint,
  openRunFiles,
  type RunFiles,
  skipDoneRows,
} from './start.ts';

/** The flags of `register --file`. */
export interface FileFlags {
  readonly file: string;
  readonly format: string | undefined;
  readonly out: string | undefined;
  readonly dryRun: boolean;
  readonly resume: boolean;
  readonly force: boolean;
  readonly batchSize: number | undefined;
  readonly csv: boolean;
}

const defaultBatchSize = 2_000;

/** Registers every device in a file. The exit code; throws a fault of kind `partial` if some rows failed. */
export async function registerFile(flags: FileFlags, context: Context): Promise<number> {
  if (context.globals.json && flags.csv) throw usage('--json and --csv cannot be combined');
  if (flags.resume && flags.force)
    throw usage('--resume and --force cannot be combined', '--resume continues an earlier run, --force starts over');
  if (flags.dryRun && flags.force)
    throw usage('--dry-run and --force cannot be combined', 'write the plan to another file: --out FILE');
  checkInput(flags);
  const input = openInput({
    file: flags.file,
    stdin: context.io.stdin,
    format: (flags.format as Format | undefined) ?? null,
    notice: text => notify(context, text),
  });
  const files = openRunFiles(flags);
  try {
    if (!flags.resume || flags.dryRun) checkNothingLeft(flags, files);
    return await (flags.dryRun
      ? planFile(flags, context, input, files)
      : new FileRun(flags, context, input, files).run());
  } finally {
    files.lock?.release();
  }
}

/** A notice on standard error. With --json, which reserves it for errors, only with --verbose. */
export function notify({ globals, out }: Context, text: string): void {
  if (globals.json) out.trace(text);
  else out.notice(text);
}

function backUp({ force }: FileFlags, context: Context, { results }: RunFiles): void {
  const backup = force ? backUpResults(results) : null;
  if (backup !== null) notify(context, `${results} was renamed to ${backup}.`);
}

function planFile(flags: FileFlags, context: Context, input: Input, files: RunFiles): Promise<number> {
  backUp(flags, context, files);
  const { out, csv } = flags;
  const file = out === undefined ? null : new ResultFile(out, context.globals.json, 0, fieldsOf);
  return new DryRun(context, new ResultWriter(context, csv, out !== undefined), file).run(input);
}

const devices = (count: number): string => (count === 1 ? '1 device is' : `${count} devices are`);

function sizeOf(file: string): { readonly isFile: boolean; readonly size: number } {
  const stats = file === '-' ? undefined : statSync(file, { throwIfNoEntry: false });
  return { isFile: stats?.isFile() ?? false, size: stats?.size ?? 0 };
}

class FileRun {
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
      throw this.#withProgress(error);
    } finally {
      this.#context.out.end();
      this.#file?.close();
    }
    this.#files.ledger?.remove();
    return this.#summary();
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
    const { rows, last, success, failed } = this.#state;
    if (rows > 0 && this.#lines === 0)
      notify(this.#context, `Continuing after ${positionText(last)} (${success} registered, ${failed} failed so far).`);
  }

  async #register(rows: readonly Row[]): Promise<void> {
    const items = rows.flatMap(row => ('device' in row ? [row.device] : []));
    const { ledger } = this.#files;
    // If the program is killed after this, --resume needs the checkpoint to find what the batch registered.
    ledger?.write(this.#state);
    const results = items.length ? await this.#send(items) : [];
    const lines = lineResults(rows, results);
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
    const success = lines.filter(line => line.status === 'success').length;
    this.#lines += lines.length;
    this.#duplicates += lines.filter(line => line.code === 2006).length;
    this.#state = {
      rows: this.#state.rows + rows.length,
      last: rows.at(-1)!.position,
      success: this.#state.success + success,
      failed: this.#state.failed + lines.length - success,
      resultBytes: this.#state.resultBytes,
      newest: lines.reduce((newest, { deviceId }) => Math.max(newest, numberOf(deviceId ?? '')), this.#state.newest),
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
    const { file } = this.#flags;
    const { isFile, size } = sizeOf(file);
    const seconds = (performance.now() - this.#started) / 1000;
    const rate = `${Math.round(this.#lines / Math.max(seconds, 0.001))} lines/s`;
    const [taken, passed] = [this.#input.consumed(), this.#skipped];
    const left = isFile && taken > passed ? (seconds * Math.max(0, size - taken)) / (taken - passed) : null;
    const percent = isFile && size > 0 ? `${Math.floor((100 * Math.min(taken, size)) / size)}%  ` : '';
    const end = left === null ? '' : `  ${duration(left)} left`;
    this.#context.out.progress.say(`Registering  ${percent}${this.#state.rows} lines  ${rate}${end}`);
  }

  /** Removes the files of a run that was refused before it could register anything. */
  #removeEmptyFiles(error: unknown): void {
    const maybeDone = !(error instanceof ServerRefusal) && (error as { maybeDone?: unknown }).maybeDone !== false;
    if (this.#state.rows > 0 || this.#sentBefore || this.#uncertain || (this.#sent && maybeDone)) return;
    this.#files.ledger?.remove();
    if (this.#file && this.#files.results !== null) rmSync(this.#files.results, { force: true });
  }

  /** The error, with what was done before it. */
  #withProgress(error: unknown): unknown {
    const { rows, last, success, failed } = this.#state;
    if (rows === 0 && !this.#uncertain) return error;
    const upTo = `${success} registered and ${failed} failed up to ${positionText(last)}${this.#resultsNote()}`;
    const done = rows === 0 ? 'the devices that were sent may have been registered' : upTo;
    const resume = this.#files.ledger === null ? null : 'to continue, repeat the command with --resume';
    if (error instanceof ServerRefusal)
      return new ServerRefusal(error.code, `${error.message}; ${done}`, error.waitSeconds, error.requestId);
    if (error instanceof Fault && error.kind !== 'closed')
      return new Fault(error.kind, `${error.message}; ${done}`, resume ?? error.hint);
    return error;
  }

  #resultsNote(): string {
    const { out } = this.#flags;
    if (out === undefined) return '';
    if (this.#unwritten === null) return `; results are in ${out}`;
    if (this.#unwritten.line === 0) return `; ${out} has no results of them`;
    return `; ${out} has the results up to ${positionText(this.#unwritten)}`;
  }

  #summary(): number {
    const { success, failed } = this.#state;
    const seconds = (performance.now() - this.#started) / 1000;
    const nothing = this.#lines === 0 ? 'nothing to do: ' : '';
    if (failed > 0)
      throw new Fault(
        'partial',
        `${nothing}${failed} of ${success + failed} lines failed, ${devices(success)} registered${this.#resultsNote()}`,
        this.#duplicates === failed
          ? 'nothing to fix: those serial numbers are already registered'
          : 'each result has a line number and a reason; fix those lines and register them again',
      );
    if (nothing) notify(this.#context, `Nothing to do: all ${success} lines are done${this.#resultsNote()}.`);
    else
      notify(
        this.#context,
        `${success} ${success === 1 ? 'device' : 'devices'} registered in ${duration(seconds)}${this.#resultsNote()}.`,
      );
    return 0;
  }
}
