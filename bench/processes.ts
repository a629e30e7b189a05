/** The processes of a bench: the built daemon, the floors, the load. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { LoadOrder, LoadResult } from './load.ts';

export const program = join(import.meta.dirname, '..', 'dist', 'devmgr.cjs');
const password = 'bench bench bench';

export interface Served {
  readonly url: string;
  readonly pid: number;
  /** Milliseconds from the start of the process to the line that says it listens. */
  readonly startMs: number;
  stop(): Promise<void>;
}

export interface BenchDaemon extends Served {
  readonly token: string;
  readonly home: string;
  call(method: string, path: string, body?: unknown): Promise<{ status: number; data: unknown }>;
}

/** A folder for one bench, on the disk that temporary files are on. */
export async function benchFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'devmgr-bench-'));
}

async function serve(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Served> {
  const begun = performance.now();
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await listening(child);
  return { url, pid: child.pid!, startMs: performance.now() - begun, stop: () => stop(child) };
}

async function listening(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) {
    if (!line.startsWith('{"event":"listening"')) continue;
    child.stdout!.resume();
    return (JSON.parse(line) as { url: string }).url;
  }
  throw new Error('the process ended before it listened');
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

/** The built daemon with everything on; limits are counted, but too high to be reached. */
export async function startDaemon(home: string): Promise<BenchDaemon> {
  if (!existsSync(program)) throw new Error(`${program} is missing: npm run build`);
  const high = '100000000/60';
  const served = await serve([program, 'daemon', 'run', '--port', '0', '--json', '--home', home], {
    DEVMGR_ADMIN_PASSWORD: password,
    DEVMGR_LIMIT_LOGIN: high,
    DEVMGR_LIMIT_QUERY: high,
    DEVMGR_LIMIT_MODIFY: high,
    DEVMGR_LIMIT_UPLOAD: high,
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
  token = ((await call('POST', '/api/auth/login', { username: 'admin', password })).data as { token: string }).token;
  return { ...served, token, home, call };
}

export function startFloor(name: string, ...args: readonly string[]): Promise<Served> {
  return serve([join(import.meta.dirname, 'floors', name), ...args]);
}

/** Runs a program of `bench/` to its end and reads the one JSON document it writes. */
export async function runJson<T>(script: string, ...args: readonly string[]): Promise<T> {
  const child = spawn(process.execPath, [join(import.meta.dirname, script), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  for await (const chunk of child.stdout!) text += chunk;
  return JSON.parse(text) as T;
}

/** Load against a server; a run with failures is no figure. */
export async function load(order: LoadOrder): Promise<LoadResult> {
  const result = await runJson<LoadResult>('load.ts', JSON.stringify(order));
  if (result.failures > 0) throw new Error(`${result.failures} requests to ${order.url} failed`);
  return result;
}

/** Resident memory of a process now, in MiB (Linux). */
export async function residentMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

export async function removeFolder(dir: string): Promise<void> {
  await rm(dir, { recursive: true, force: true });
}
