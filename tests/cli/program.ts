/** The built program as a child process, and a real daemon for it to talk to. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { CommandRunner } from '../support/command-runner.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { programFile as testProgram } from '../support/test-programs.ts';

export { temporaryFolder };

const root = join(import.meta.dirname, '..', '..');
export const programFile = join(root, 'dist', 'devmgr.cjs');
/** The command line, whose daemons hash passwords at little cost. */
export const cheapProgram = (): string => testProgram('program-main');
export const adminPassword = 'correct horse battery';

const unlimited = Object.fromEntries(
  ['LOGIN', 'QUERY', 'MODIFY', 'UPLOAD'].map(name => [`DEVMGR_LIMIT_${name}`, 'off']),
);

type Env = Readonly<Record<string, string | undefined>>;

/** An environment without the settings of the person who runs the tests. */
function cleanEnv(home: string, more: Env = {}): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    HOME: home,
    DEVMGR_HOME: home,
    DEVMGR_NO_KEYCHAIN: '1',
    // That of all tests: in a new home it would be written and never read.
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    TZ: 'UTC',
    LANG: 'C.UTF-8',
    ...more,
  } as NodeJS.ProcessEnv;
}

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The one JSON document on standard output. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads documents of every shape
  readonly json: any;
  /** The JSON lines on standard output. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads documents of every shape
  readonly rows: any[];
}

export interface RunOptions {
  readonly home?: string;
  readonly env?: Env;
  /** Null leaves standard input open. */
  readonly input?: string | Buffer | null;
  readonly cwd?: string;
  /** The built program if absent. */
  readonly program?: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Finished>;
  /** Resolves when the output matches. */
  until(stream: 'stdout' | 'stderr', pattern: RegExp): Promise<RegExpExecArray>;
}

/** Environment of a program whose clock is ahead of that of the daemon by these milliseconds. */
export const clockAhead = (milliseconds: number): Env => ({
  NODE_OPTIONS: `--import=data:text/javascript,const{now}=Date;Date.now=()=>now()+${milliseconds}`,
});

/** Starts the program. */
export function start(args: readonly string[], options: RunOptions = {}): Running {
  const home = options.home ?? temporaryFolder();
  const child = spawn(process.execPath, [options.program ?? programFile, ...args], {
    env: cleanEnv(home, options.env),
    cwd: options.cwd ?? root,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  endWithTest(child);
  return follow(child, options.input);
}

/** A process that a failed test leaves would wait for its server for ever. */
function endWithTest(child: ChildProcess): void {
  try {
    onTestFinished(() => void child.kill('SIGKILL'));
  } catch {
    // Started for all tests of a file, whose hook ends it.
  }
}

export function follow(child: ChildProcess, input?: string | Buffer | null): Running {
  const text = { stdout: '', stderr: '' };
  const changed = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
      text[name] += chunk;
      for (const tell of changed) tell();
    });
  }
  child.stdin?.on('error', () => undefined);
  if (input !== null) child.stdin?.end(input ?? '');
  const ended = new Promise<Finished>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', code => {
      for (const tell of changed) tell();
      resolve(finished({ code, ...text }));
    });
  });
  return {
    child,
    ended,
    until: (stream, pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = pattern.exec(text[stream]);
          if (!found && child.exitCode === null && child.signalCode === null) return;
          changed.delete(look);
          if (found) resolve(found);
          else
            reject(
              new Error(`the program ended (${child.exitCode}) without ${pattern}:\n${text.stdout}\n${text.stderr}`),
            );
        };
        changed.add(look);
        look();
      }),
  };
}

/** The output of a command, and the documents in it. */
const finished = (result: Pick<Finished, 'code' | 'stdout' | 'stderr'>): Finished => ({
  ...result,
  get json() {
    return JSON.parse(result.stdout);
  },
  get rows() {
    return result.stdout
      .split('\n')
      .filter(Boolean)
      .map(line => JSON.parse(line));
  },
});

const runner = new CommandRunner();
/** First words of commands that are about processes, terminals, devices or the installed program. */
const wantProcess = new Set('daemon doctor enroll open quickstart verify version'.split(' '));
const isOfProcess = (name: string) => !name.startsWith('DEVMGR_') && name !== 'NO_COLOR';

/** Runs the program to its end: in a process that has run others before, if nothing in it is about the process. */
export async function devmgr(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const { home = temporaryFolder(), env = {}, input = '', cwd } = options;
  const needsProcess =
    input === null ||
    cwd !== undefined ||
    !/^[a-z]/.test(args[0] ?? '') ||
    wantProcess.has(args[0]!) ||
    Object.keys(env).some(isOfProcess);
  const quick = needsProcess ? null : runner.run({ args, env: cleanEnv(home, env), input, program: programFile });
  return quick === null ? start(args, { ...options, home }).ended : finished(await quick);
}

export interface Daemon {
  readonly url: string;
  readonly home: string;
  readonly pid: number;
  readonly token: string;
  /** A request without the command line, as the administrator. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads responses of every shape
  call(method: string, path: string, body?: unknown): Promise<any>;
  /** The program against this daemon, logged in as the administrator. */
  run(args: readonly string[], options?: RunOptions): Promise<Finished>;
  start(args: readonly string[], options?: RunOptions): Running;
  register(serial: string): Promise<{ readonly deviceId: string; readonly activationCode: string }>;
  end(signal: NodeJS.Signals): Promise<void>;
}

export interface DaemonOptions {
  readonly args?: readonly string[];
  readonly env?: Env;
  readonly home?: string;
}

/** A daemon of the same command line, with cheap password hashes, with a home of its own, logged in to from that home. */
export async function startDaemon(options: DaemonOptions = {}): Promise<Daemon> {
  const home = options.home ?? mkdtempSync(join(tmpdir(), 'devmgr-cli-'));
  const env = cleanEnv(home, { ...unlimited, DEVMGR_ADMIN_PASSWORD: adminPassword, ...options.env });
  const child = spawn(
    process.execPath,
    [cheapProgram(), 'daemon', 'run', '--port', '0', '--json', ...(options.args ?? [])],
    { env, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const url = await listening(child);
  const login = await devmgr(['login', 'admin', '--password-stdin', '--json'], { home, input: `${adminPassword}\n` });
  if (login.code !== 0) throw new Error(`login failed: ${login.stderr}`);
  const { token } = login.json as { token: string };
  const daemon: Daemon = {
    url,
    home,
    pid: child.pid!,
    token,
    async call(method, path, body) {
      const headers = {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      };
      const answer = await fetch(url + path, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const { code, message, data } = (await answer.json()) as { code: number; message: string; data: unknown };
      if (code !== 200) throw new Error(`${path}: ${code} ${message}`);
      return data;
    },
    run: (args, more) => devmgr(args, { home, ...more }),
    start: (args, more) => start(args, { home, ...more }),
    register: serial =>
      daemon.call('POST', '/api/devices/register', {
        deviceType: 'UKEY',
        serialNumber: serial,
        manufacturer: 'Acme',
        model: 'One',
      }),
    async end(signal) {
      const gone = new Promise<void>(resolve =>
        child.exitCode === null && child.signalCode === null ? child.once('exit', () => resolve()) : resolve(),
      );
      child.kill(signal);
      await gone;
    },
  };
  return daemon;
}

/** Stops a daemon and deletes its home. */
export async function discard(daemon: Daemon | undefined): Promise<void> {
  await daemon?.end('SIGTERM');
  if (daemon) rmSync(daemon.home, { recursive: true, force: true });
}

function listening(child: ChildProcess): Promise<string> {
  let errors = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout! }).on('line', line => {
      if (!line.startsWith('{')) return;
      const entry = JSON.parse(line) as { event?: string; url?: string };
      if (entry.event === 'listening' && entry.url) resolve(entry.url);
    });
    child.once('exit', code => reject(new Error(`the daemon ended with ${code}: ${errors}`)));
  });
}
