/** `register --file`: reads lines, sends batches, writes a result for every line. */
import { rmSync, statSync } from 'node:fs';
import type { BatchItem, Registration } from '../../../contract/devices.ts';
import { Refusal } from '../../client/failures.ts';
import type { Context } from '../../context.ts';
import { Fault, usage } from '../../fault.ts';
import { duration } from '../../terminal/when.ts';
import { newestDevice, numberOf, sendBatch } from './batch.ts';
import { checkInput, checkUntouched, type Keeping, keep, nothingDone, passOver, putAside } from './begin.ts';
import { chunksOf, joined } from './chunks.ts';
import { dryRun } from './dry-run.ts';
import type { Checkpoint } from './ledger.ts';
import { type Place, placeWords } from './line-number.ts';
import { type LineResult, ResultFile, ResultWriter } from './results.ts';
import { type Format, openRows, type Row, type Source } from './rows.ts';

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

const usualBatch = 2_000;

export async function registerFile(flags: FileFlags, context: Context): Promise<number> {
  if (context.globals.json && flags.csv) throw usage('--json and --csv exclude each other');
  if (flags.resume && flags.force)
    throw usage('--resume and --force exclude each other', 'the one goes on, the other begins anew');
  if (flags.dryRun && flags.force)
    throw usage('--dry-run and --force exclude each other', 'write the plan to another file: --out FILE');
  checkInput(flags);
  const source = openRows({
    file: flags.file,
    stdin: context.io.stdin,
    format: (flags.format as Format | undefined) ?? null,
    notice: text => told(context, text),
  });
  const keeping = keep(flags);
  try {
    if (!flags.resume || flags.dryRun) checkUntouched(flags, keeping);
    return await (flags.dryRun
      ? planned(flags, context, source, keeping)
      : new FileRun(flags, context, source, keeping).run());
  } finally {
    keeping.lock?.release();
  }
}

/** With --json standard error is for errors alone. */
function told({ globals, out }: Context, text: string): void {
  if (globals.json) out.trace(text);
  else out.notice(text);
}

function begun({ force }: FileFlags, context: Context, { results }: Keeping): void {
  const aside = force ? putAside(results) : null;
  if (aside !== null) told(context, `What was in ${results} is in ${aside} now.`);
}

function planned(flags: FileFlags, context: Context, source: Source, keeping: Keeping): Promise<number> {
  begun(flags, context, keeping);
  const { out, csv } = flags;
  const file = out === undefined ? null : new ResultFile(out, context.globals.json, 0);
  return dryRun(context, source, new ResultWriter(context, csv, out !== undefined), file);
}

const devices = (count: number): string => (count === 1 ? '1 device is' : `${count} devices are`);

function sizeOf(file: string): { readonly isFile: boolean; readonly size: number } {
  const stats = file === '-' ? undefined : statSync(file, { throwIfNoEntry: false });
  return { isFile: stats?.isFile() ?? false, size: stats?.size ?? 0 };
}

class FileRun {
  readonly #flags: FileFlags;
  readonly #context: Context;
  readonly #source: Source;
  readonly #keeping: Keeping;
  readonly #writer: ResultWriter;
  #started = performance.now();
  #file: ResultFile | null = null;
  #state: Checkpoint = nothingDone;
  /** The next batch may have been sent by the run that was interrupted. */
  #sentBefore = false;
  /** Something was sent by this run. */
  #sent = false;
  /** Something was sent, by this run or the one before, whose answer nobody has. */
  #uncertain = false;
  /** What is registered behind this place has no result in the file; null where all have theirs. */
  #unwritten: Place | null = null;
  /** Results of this very run, and those among them that are registered already. */
  #lines = 0;
  #known = 0;
  /** Bytes of the input that an earlier run has done. */
  #passed = 0;

  constructor(flags: FileFlags, context: Context, source: Source, keeping: Keeping) {
    this.#flags = flags;
    this.#context = context;
    this.#source = source;
    this.#keeping = keeping;
    this.#writer = new ResultWriter(context, flags.csv, flags.out !== undefined);
  }

  async run(): Promise<number> {
    const { registry, io } = this.#context;
    try {
      await this.#begin();
      // Also finds out whether the server is there and the login good, before anything is read.
      const newest = await newestDevice(registry);
      if (!this.#sentBefore) this.#state = { ...this.#state, newest };
      this.#started = performance.now();
      this.#passed = this.#source.taken();
      for await (const chunk of chunksOf(this.#source.rows, this.#flags.batchSize ?? usualBatch)) {
        if (io.interrupt.aborted) break;
        this.#sayWhereItGoesOn();
        await this.#chunk(chunk);
        this.#progress();
        if (io.interrupt.aborted) break;
      }
      if (io.interrupt.aborted) throw new Fault('interrupted', 'interrupted');
      this.#file?.finish();
    } catch (error) {
      this.#leaveNoTrace(error);
      throw this.#stopped(error);
    } finally {
      this.#context.out.end();
      this.#file?.close();
    }
    this.#keeping.ledger?.remove();
    return this.#summary();
  }

  async #begin(): Promise<void> {
    const { out, resume, force } = this.#flags;
    const { ledger, lock } = this.#keeping;
    begun(this.#flags, this.#context, this.#keeping);
    if (force) ledger?.remove();
    if (resume) await this.#goOn();
    if (lock === null && ledger === null && (out === undefined ? this.#flags.file !== '-' : this.#keeping.results))
      told(this.#context, 'How far this run comes cannot be kept beside the file: nothing can be written there.');
    if (out !== undefined) this.#file = new ResultFile(out, this.#context.globals.json, this.#state.resultBytes);
  }

  async #goOn(): Promise<void> {
    const earlier = await passOver(this.#source.rows, this.#keeping);
    if (earlier === null)
      return told(this.#context, 'No earlier run of this input is known: beginning with its first line.');
    this.#state = earlier.done;
    this.#sentBefore = earlier.sent;
  }

  /** Said once there is something left to do. */
  #sayWhereItGoesOn(): void {
    const { rows, last, success, failed } = this.#state;
    if (rows > 0 && this.#lines === 0)
      told(this.#context, `Going on after ${placeWords(last)} (${success} registered, ${failed} failed so far).`);
  }

  async #chunk(rows: readonly Row[]): Promise<void> {
    const items = rows.flatMap(row => ('device' in row ? [row.device] : []));
    const { ledger } = this.#keeping;
    // From here on the batch may be done without anybody having been told: what is needed to find out is kept first.
    ledger?.write(this.#state);
    const results = items.length ? await this.#send(items) : [];
    const lines = joined(rows, results);
    const { last } = this.#state;
    this.#count(rows, lines);
    this.#unwritten = last;
    this.#file?.write(lines);
    this.#unwritten = null;
    this.#state = { ...this.#state, resultBytes: this.#file?.size ?? 0 };
    // Where there is no file, nobody but the reader of the output has the codes: it gets them before they count as done.
    if (this.#file) ledger?.write(this.#state);
    await this.#writer.write(lines);
    if (!this.#file) ledger?.write(this.#state);
  }

  #count(rows: readonly Row[], lines: readonly LineResult[]): void {
    const success = lines.filter(line => line.status === 'success').length;
    this.#lines += lines.length;
    this.#known += lines.filter(line => line.code === 2006).length;
    this.#state = {
      rows: this.#state.rows + rows.length,
      last: rows.at(-1)!.place,
      success: this.#state.success + success,
      failed: this.#state.failed + lines.length - success,
      resultBytes: this.#state.resultBytes,
      newest: lines.reduce((most, { deviceId }) => Math.max(most, numberOf(deviceId ?? '')), this.#state.newest),
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
        `the server answered ${results.length} results for ${items.length} devices`,
        'look what is registered: devmgr list',
      );
    return results;
  }

  #progress(): void {
    const { file } = this.#flags;
    const { isFile, size } = sizeOf(file);
    const seconds = (performance.now() - this.#started) / 1000;
    const rate = `${Math.round(this.#lines / Math.max(seconds, 0.001))} lines/s`;
    const [taken, passed] = [this.#source.taken(), this.#passed];
    const left = isFile && taken > passed ? (seconds * Math.max(0, size - taken)) / (taken - passed) : null;
    const percent = isFile && size > 0 ? `${Math.floor((100 * Math.min(taken, size)) / size)}%  ` : '';
    const end = left === null ? '' : `  ${duration(left)} left`;
    this.#context.out.progress.say(`Registering  ${percent}${this.#state.rows} lines  ${rate}${end}`);
  }

  /** A run that was refused before anything could be done is as if it had not been. */
  #leaveNoTrace(error: unknown): void {
    const maybeDone = !(error instanceof Refusal) && (error as { maybeDone?: unknown }).maybeDone !== false;
    if (this.#state.rows > 0 || this.#sentBefore || this.#uncertain || (this.#sent && maybeDone)) return;
    this.#keeping.ledger?.remove();
    if (this.#file && this.#keeping.results !== null) rmSync(this.#keeping.results, { force: true });
  }

  /** The error, with what has been done until it happened. */
  #stopped(error: unknown): unknown {
    const { rows, last, success, failed } = this.#state;
    if (rows === 0 && !this.#uncertain) return error;
    const upTo = `${success} registered and ${failed} failed up to ${placeWords(last)}${this.#where()}`;
    const done = rows === 0 ? 'what was sent may be registered all the same' : upTo;
    const goOn = this.#keeping.ledger === null ? null : 'go on with the same command and --resume';
    if (error instanceof Refusal)
      return new Refusal(error.code, `${error.message}; ${done}`, error.waitSeconds, error.requestId);
    if (error instanceof Fault && error.kind !== 'closed')
      return new Fault(error.kind, `${error.message}; ${done}`, goOn ?? error.hint);
    return error;
  }

  #where(): string {
    const { out } = this.#flags;
    if (out === undefined) return '';
    if (this.#unwritten === null) return `; results are in ${out}`;
    if (this.#unwritten.line === 0) return `; ${out} has no result of them`;
    return `; ${out} holds the results up to ${placeWords(this.#unwritten)}`;
  }

  #summary(): number {
    const { success, failed } = this.#state;
    const seconds = (performance.now() - this.#started) / 1000;
    const nothing = this.#lines === 0 ? 'nothing to do: ' : '';
    if (failed > 0)
      throw new Fault(
        'partial',
        `${nothing}${failed} of ${success + failed} lines failed, ${devices(success)} registered${this.#where()}`,
        this.#known === failed
          ? 'nothing is left to mend: those serial numbers are registered already'
          : 'each result names its place and the reason; mend those and register them again',
      );
    if (nothing) told(this.#context, `Nothing to do: all ${success} lines are done${this.#where()}.`);
    else
      told(
        this.#context,
        `${success} ${success === 1 ? 'device' : 'devices'} registered in ${duration(seconds)}${this.#where()}.`,
      );
    return 0;
  }
}
