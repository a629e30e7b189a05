import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { RunOptions } from '../../src/contract/programs.ts';
import { adminPassword } from './daemon.ts';
import { programFile } from './test-programs.ts';

export interface DaemonProcess {
  readonly url: string;
  readonly pid: number;
  readonly child: ChildProcess;
  /** An administrator's token; empty if the password is not that of the tests. */
  readonly token: string;
  /** Its output: log lines on stdout, errors on stderr. */
  readonly output: () => string;
  call(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; code: number; message: string; data: never }>;
  /** SIGKILL: no chance to tidy up. Resolves when the process is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves to the exit code. */
  stop(): Promise<number | null>;
}

export const noLimits = Object.fromEntries(
  ['LOGIN', 'QUERY', 'MODIFY', 'UPLOAD'].map(scope => [`DEVMGR_LIMIT_${scope}`, 'off']),
);

/** Starts a daemon on a home: bundled, unless another `program` is named. Rejects with what it wrote where it ends before it listens. */
export async function spawnDaemon(
  options: Partial<RunOptions> & { readonly home: string },
  env: Readonly<Record<string, string>> = {},
  command: readonly string[] = [],
  program = programFile('daemon-main'),
): Promise<DaemonProcess> {
  const args = [...command, process.execPath, program, JSON.stringify(options)];
  const child = spawn(args[0]!, args.slice(1), {
    env: { ...process.env, DEVMGR_ADMIN_PASSWORD: adminPassword, ...noLimits, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  const take = (chunk: Buffer) => {
    text += chunk;
  };
  child.stdout!.on('data', take);
  child.stderr!.on('data', take);
  const url = await listening(child, () => text);
  const request = async (method: string, path: string, body: unknown, token: string | null) => {
    const response = await fetch(url + path, {
      method,
      headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, ...((await response.json()) as { code: number; message: string; data: never }) };
  };
  const login = await request('POST', '/api/auth/login', { username: 'admin', password: adminPassword }, null);
  const { token = '' } = (login.data ?? {}) as { token?: string };
  const ended = once(child, 'exit');
  return {
    url,
    pid: child.pid!,
    child,
    token,
    output: () => text,
    call: (method, path, body) => request(method, path, body, token),
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
      return child.exitCode;
    },
  };
}

/** Uploads a small package of that version. */
export async function uploadApp({ url, token }: DaemonProcess, version: string): Promise<string> {
  const form = new FormData();
  form.set('platform', 'ANDROID');
  form.set('version', version);
  form.set('file', new Blob([`package ${version}`]), 'app.apk');
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/api/app-versions/upload`, { method: 'POST', body: form, headers });
  if (response.status !== 200) throw new Error(`the upload was answered with ${response.status}`);
  return ((await response.json()) as { data: { versionId: string } }).data.versionId;
}

async function listening(child: ChildProcess, text: () => string): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! }))
    if (line.startsWith('{"event":"listening"')) {
      child.stdout!.resume();
      return (JSON.parse(line) as { url: string }).url;
    }
  const [exitCode] = child.exitCode === null ? await once(child, 'exit') : [child.exitCode];
  throw new Error(`the daemon ended with ${exitCode} before it listened: ${text()}`);
}
