/** The processes of a bench: the built daemon, the floors, the load. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import type { LoadOrder, LoadResult } from './load.ts';

/** The program that is measured: what `npm run build` made, unless another build is named. */
export const program = process.env.DEVMGR_BENCH_PROGRAM ?? join(import.meta.dirname, '..', 'dist', 'devmgr.cjs');
const password = 'bench bench bench';

export interface Served {
  readonly url: string;
  readonly pid: number;
  /** Milliseconds from the start of the process to its first answer. */
  readonly startMs: number;
  /** The fields of the line about listening beside the address. */
  readonly line: Readonly<Record<string, unknown>>;
  stop(): Promise<void>;
}

export interface BenchDaemon extends Served {
  readonly token: string;
  readonly home: string;
  call(method: string, path: string, body?: unknown): Promise<{ status: number; data: unknown }>;
}

type Env = Readonly<Record<string, string>>;

/** `first` is asked for until it answers. */
async function serve(args: readonly string[], first: string, env: Env = {}): Promise<Served> {
  const begun = performance.now();
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const line = await listening(child);
  const url = line.url as string;
  await (await fetch(url + first)).arrayBuffer();
  return { url, pid: child.pid!, startMs: performance.now() - begun, line, stop: () => stop(child) };
}

async function listening(child: ChildProcess): Promise<Record<string, unknown>> {
  for await (const line of createInterface({ input: child.stdout! })) {
    if (!line.startsWith('{"event":"listening"')) continue;
    child.stdout!.resume();
    return JSON.parse(line) as Record<string, unknown>;
  }
  throw new Error('the process ended before it listened');
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

/** How a daemon is started. */
export interface DaemonOptions {
  /** A module that is loaded before it. */
  readonly preload?: string;
  /** Further arguments of Node. */
  readonly node?: readonly string[];
  /** The database; SQLite in the home if absent. */
  readonly store?: string;
  readonly env?: Env;
  /** Another program than `program`. */
  readonly built?: string;
}

/** The built daemon with everything on; limits are counted, but too high to be reached. */
export async function startDaemon(
  home: string,
  { preload, node = [], store, env = {}, built = program }: DaemonOptions = {},
): Promise<BenchDaemon> {
  if (!existsSync(built)) throw new Error(`${built} is missing: npm run build`);
  const high = '100000000/60';
  const before = [...node, ...(preload === undefined ? [] : ['--import', preload])];
  const stored = store === undefined ? [] : ['--store', store];
  const args = [...before, built, 'daemon', 'run', '--port', '0', '--json', '--home', home, ...stored];
  const served = await serve(args, '/api/health', {
    DEVMGR_ADMIN_PASSWORD: password,
    DEVMGR_LIMIT_LOGIN: high,
    DEVMGR_LIMIT_QUERY: high,
    DEVMGR_LIMIT_MODIFY: high,
    DEVMGR_LIMIT_UPLOAD: high,
    ...env,
  });
  let token = '';
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(served.url + path, {
      method,
      headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, data: ((await response.json()) as { data: unknown }).data };
  };
  const login = await call('POST', '/api/auth/login', { username: 'admin', password });
  if (login.status !== 200) throw new Error(`the login was refused: ${login.status}`);
  token = (login.data as { token: string }).token;
  return { ...served, token, home, call };
}

export function startFloor(name: string, args: readonly string[], preload?: string): Promise<Served> {
  const before = preload === undefined ? [] : ['--import', preload];
  return serve([...before, join(import.meta.dirname, 'floors', name), ...args], '/');
}

/** Runs a program of `benchmarks/` to its end and reads the one JSON document it writes. */
export async function runJson<T>(script: string, ...args: readonly string[]): Promise<T> {
  const child = spawn(process.execPath, [join(import.meta.dirname, script), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  for await (const chunk of child.stdout!) text += chunk;
  if (text === '') throw new Error(`${script} wrote nothing`);
  return JSON.parse(text) as T;
}

/** A program of `benchmarks/` that answers each line with a line of JSON. */
export class Dialogue {
  readonly #child: ChildProcess;
  readonly #lines: Interface;
  readonly #answers: AsyncIterator<string>;

  constructor(script: string, ...args: readonly string[]) {
    this.#child = spawn(process.execPath, [join(import.meta.dirname, script), ...args], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#lines = createInterface({ input: this.#child.stdout! });
    this.#answers = this.#lines[Symbol.asyncIterator]();
  }

  async next<T>(): Promise<T> {
    const { value, done } = await this.#answers.next();
    if (done) throw new Error('the process ended');
    return JSON.parse(value) as T;
  }

  ask<T>(line: string): Promise<T> {
    this.#child.stdin!.write(`${line}\n`);
    return this.next();
  }

  async end(): Promise<void> {
    this.#child.stdin!.end();
    if (this.#child.exitCode === null) await once(this.#child, 'exit');
  }
}

/** Load against a server. A run with failures gives no figure and throws. */
export async function load(order: LoadOrder): Promise<LoadResult> {
  const result = await runJson<LoadResult>('load.ts', JSON.stringify(order));
  if (result.failures > 0) throw new Error(`${result.failures} requests to ${order.url} failed`);
  return result;
}

async function statusMiB(pid: number, field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
}

/** Resident memory of a process now, in MiB (Linux). */
export const residentMiB = (pid: number): Promise<number> => statusMiB(pid, 'VmRSS');

/** The most it has had since `forgetPeak`. */
export const peakMiB = (pid: number): Promise<number> => statusMiB(pid, 'VmHWM');

export const forgetPeak = (pid: number): Promise<void> => writeFile(`/proc/${pid}/clear_refs`, '5');

/** Seconds of processor time that a process has taken (Linux). */
export async function processorSeconds(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Resolves when a process has done next to nothing for a second: what it prepares after its start is done. */
export async function settled(pid: number): Promise<void> {
  for (let quiet = 0, last = await processorSeconds(pid); quiet < 4; ) {
    await pause(250);
    const now = await processorSeconds(pid);
    quiet = now - last <= 0.02 ? quiet + 1 : 0;
    last = now;
  }
}

const watch = join(import.meta.dirname, 'loop-watch.ts');

/** Tells how long the event loop of a process was held; `preload` goes to the start of that process. */
export function loopWatch(): { preload: string; longestMs(pid: number): Promise<number> } {
  const file = join(tmpdir(), `devmgr-loop-${process.pid}-${Math.random().toString(36).slice(2)}.json`);
  return {
    preload: `${watch}?${encodeURIComponent(file)}`,
    async longestMs(pid) {
      process.kill(pid, 'SIGUSR2');
      while (!existsSync(file)) await pause(10);
      const { longest } = JSON.parse(await readFile(file, 'utf8')) as { longest: number };
      await rm(file);
      return longest;
    },
  };
}
