/** `register --file`: reads lines, sends batches, writes a result for every line. */
import { existsSync, renameSync, statSync } from 'node:fs';
import type { BatchItem, Registration } from '../../api/devices.ts';
import { sizes } from '../../api/limits.ts';
import { Refusal } from '../../client/failures.ts';
import { Fault, systemWords, usage } from '../../fault.ts';
import { duration } from '../../terminal/when.ts';
import type { Context } from '../context.ts';
import { newestDevice, numberOf, sendBatch } from './batch.ts';
import { dryRun } from './dry-run.ts';
import { type Checkpoint, Ledger } from './ledger.ts';
import { placeWords } from './place.ts';
import { type LineResult, ResultFile, ResultWriter } from './results.ts';
import { type Format, openRows, type Row, type Source } from './rows.ts';

export interface FileFlags {
  readonly file: string;
  readonly format: string | undefined;
  readonly out: string | undefined;
  readonly dryRun: boolean;
  readonly resume: boolean;
  readonly batchSize: number | undefined;
  readonly csv: boolean;
}

const usualBatch = 2_000;
/** Left free of the largest body for what stands around the items. */
const mostBytes = sizes.batchBody - 1024 * 1024;

export async function registerFile(flags: FileFlags, context: Context): Promise<number> {
  checkFile(flags);
  if (context.globals.json && flags.csv) throw usage('--json and --csv exclude each other');
  const source = openRows({
    file: flags.file,
    stdin: context.io.stdin,
    format: (flags.format as Format | undefined) ?? null,
    notice: text => (context.globals.json ? context.out.trace(text) : context.out.notice(text)),
  });
  const out = flags.out ?? null;
  if (flags.dryRun)
    return dryRun(
      context,
      source,
      new ResultWriter(context, flags.csv, out !== null),
      out === null ? null : new ResultFile(out, context.globals.json, 0),
    );
  return new FileRun(flags, context, source).run();
}

function checkFile({ file, out, resume }: FileFlags): void {
  if (file === '-') {
    if (resume) throw usage('standard input cannot be resumed: what was read is gone', 'name a file');
    return;
  }
  try {
    if (statSync(file).isDirectory()) throw usage(`${file} is a folder, not a file`);
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw usage(`${file} cannot be read: ${systemWords(error)}`);
  }
  if (
    out !== undefined &&
    existsSync(out) &&
    statSync(out).ino === statSync(file).ino &&
    statSync(out).dev === statSync(file).dev
  )
    throw usage(`--out ${out} is the file that is read`);
}

class FileRun {
  readonly #flags: FileFlags;
  readonly #context: Context;
  readonly #source: Source;
  readonly #ledger: Ledger | null;
  readonly #writer: ResultWriter;
  readonly #started = performance.now();
  #file: ResultFile | null = null;
  #state: Checkpoint = { rows: 0, last: { line: 0 }, success: 0, failed: 0, resultBytes: 0, newest: 0 };
  #resumed = false;
  /** Successes and failures of this very run. */
  #lines = 0;

  constructor(flags: FileFlags, context: Context, source: Source) {
    this.#flags = flags;
    this.#context = context;
    this.#source = source;
    this.#ledger = flags.file === '-' ? null : new Ledger(flags.file, flags.out ?? null);
    this.#writer = new ResultWriter(context, flags.csv, flags.out !== undefined);
  }

  async run(): Promise<number> {
    const { registry, io } = this.#context;
    this.#begin();
    try {
      // Also finds out whether the server is there and the login good, before anything is read.
      const newest = await newestDevice(registry);
      if (!this.#resumed) this.#state = { ...this.#state, newest };
      for await (const chunk of chunksOf(this.#source.rows, this.#flags.batchSize ?? usualBatch, this.#state.rows)) {
        if (io.interrupt.aborted) break;
        await this.#chunk(chunk);
        this.#progress();
        if (io.interrupt.aborted) break;
      }
    } catch (error) {
      throw this.#stopped(error);
    } finally {
      this.#context.out.end();
      this.#file?.close();
    }
    if (io.interrupt.aborted) throw this.#stopped(new Fault('interrupted', 'interrupted'));
    this.#ledger?.remove();
    return this.#summary();
  }

  #begin(): void {
    const { out, globals } = this.#context;
    const earlier = this.#ledger?.read() ?? null;
    if (this.#flags.resume && earlier) {
      this.#state = earlier;
      this.#resumed = true;
      if (!globals.json)
        out.notice(
          `Going on after ${placeWords(earlier.last)} (${earlier.success} registered, ${earlier.failed} failed so far).`,
        );
    } else if (this.#flags.resume) {
      if (!globals.json) out.notice('No interrupted run of this file is known: beginning with its first line.');
    } else if (earlier) {
      if (!globals.json)
        out.warn(
          `an earlier run of this file stopped after ${placeWords(earlier.last)}; --resume would have gone on there`,
        );
      const { out: results } = this.#flags;
      if (results !== undefined && existsSync(results)) renameSync(results, `${results}.before`);
    }
    if (this.#flags.out !== undefined)
      this.#file = new ResultFile(this.#flags.out, globals.json, this.#state.resultBytes);
    this.#state = { ...this.#state, resultBytes: this.#file?.size ?? 0 };
  }

  async #chunk(rows: readonly Row[]): Promise<void> {
    const items = rows.flatMap(row => ('device' in row ? [row.device] : []));
    // From here on the batch may be done without anybody having been told: what is needed to find out is kept first.
    this.#ledger?.write(this.#state);
    const results = items.length ? await this.#send(items) : [];
    const lines = joined(rows, results);
    this.#file?.write(lines);
    if (this.#ledger && this.#file) this.#file.flush();
    const success = lines.filter(line => line.status === 'success').length;
    this.#lines += lines.length;
    this.#state = {
      rows: this.#state.rows + rows.length,
      last: rows.at(-1)!.place,
      success: this.#state.success + success,
      failed: this.#state.failed + lines.length - success,
      resultBytes: this.#file?.size ?? 0,
      newest: lines.reduce((most, { deviceId }) => Math.max(most, numberOf(deviceId ?? '')), this.#state.newest),
    };
    this.#ledger?.write(this.#state);
    await this.#writer.write(lines);
  }

  async #send(items: readonly Registration[]): Promise<readonly BatchItem[]> {
    const sentBefore = this.#resumed;
    this.#resumed = false;
    const results = await sendBatch({
      client: this.#context.registry.unhurried(),
      items,
      newest: this.#state.newest,
      sentBefore,
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
    const size = file === '-' ? null : statSync(file, { throwIfNoEntry: false })?.size;
    const seconds = (performance.now() - this.#started) / 1000;
    const rate = `${Math.round(this.#lines / Math.max(seconds, 0.001))} lines/s`;
    const share = size ? Math.min(1, this.#source.read() / size) : null;
    const left = share ? `  ${duration((seconds * (1 - share)) / share)} left` : '';
    const percent = share === null ? '' : `${Math.floor(share * 100)}%  `;
    this.#context.out.progress().say(`Registering  ${percent}${this.#state.rows} lines  ${rate}${left}`);
  }

  /** The error, with what has been done until it happened. */
  #stopped(error: unknown): unknown {
    const { rows, last, success, failed } = this.#state;
    if (rows === 0) return error;
    const done = `${success} registered and ${failed} failed up to ${placeWords(last)}${this.#flags.out === undefined ? '' : `; results are in ${this.#flags.out}`}`;
    const goOn = this.#ledger === null ? null : `go on with the same command and --resume`;
    if (error instanceof Refusal)
      return new Refusal(error.code, `${error.message}; ${done}`, error.waitSeconds, error.requestId);
    if (error instanceof Fault && error.kind !== 'closed')
      return new Fault(error.kind, `${error.message}; ${done}`, goOn ?? error.hint);
    return error;
  }

  #summary(): number {
    const { out, globals } = this.#context;
    const { success, failed } = this.#state;
    const seconds = (performance.now() - this.#started) / 1000;
    const where = this.#flags.out === undefined ? '' : `; results are in ${this.#flags.out}`;
    if (failed > 0)
      throw new Fault(
        'partial',
        `${failed} of ${success + failed} lines failed, ${success} devices are registered${where}`,
        'each result names its place and the reason; mend those and register them again',
      );
    if (!globals.json) out.notice(`${success} devices registered in ${duration(seconds)}${where}.`);
    return 0;
  }
}

/** The rows behind so many that are done, so many at a time, and no more than fit into one request. */
async function* chunksOf(rows: AsyncIterable<Row>, most: number, after: number): AsyncGenerator<readonly Row[]> {
  let chunk: Row[] = [];
  let bytes = 0;
  let number = 0;
  for await (const row of rows) {
    if (++number <= after) continue;
    const size = 'device' in row ? Buffer.byteLength(JSON.stringify(row.device)) + 1 : 0;
    if (chunk.length >= most || bytes + size > mostBytes) {
      yield chunk;
      chunk = [];
      bytes = 0;
    }
    chunk.push(row);
    bytes += size;
  }
  if (chunk.length) yield chunk;
}

/** One result for each row: of the server where it was sent, else what is wrong with it. */
function joined(rows: readonly Row[], results: readonly BatchItem[]): LineResult[] {
  let next = 0;
  return rows.map(({ place, serialNumber, ...row }): LineResult => {
    if (!('device' in row))
      return {
        ...place,
        serialNumber,
        status: 'failed',
        code: 1001,
        ...(row.field ? { field: row.field } : {}),
        message: row.problem,
      };
    const { status, deviceId, activationCode, code, message } = results[next++]!;
    if (status === 'success' && deviceId)
      return { ...place, serialNumber, status, deviceId, ...(activationCode ? { activationCode } : {}), message };
    const field = code === 2006 ? { field: 'serialNumber' } : {};
    return { ...place, serialNumber, status: 'failed', ...(code === undefined ? {} : { code }), ...field, message };
  });
}
