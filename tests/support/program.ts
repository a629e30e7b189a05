/** The built program as a child process, as an operator or a script would run it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { adminPassword } from './daemon.ts';
import { programFile } from './test-programs.ts';

export const program = join(import.meta.dirname, '..', '..', 'dist', 'devmgr.cjs');

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunSettings {
  readonly home: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Written to standard input, which is then closed. */
  readonly input?: string;
  /** The command that runs the program: `umockdev-run …`. */
  readonly prefix?: readonly string[];
}

/** A command under way: its lines on stdout as they come, and its end. */
export interface Running {
  readonly child: ChildProcess;
  readonly lines: AsyncIterator<string>;
  readonly ended: Promise<Ran>;
}

const noLimits = Object.fromEntries(
  ['LOGIN', 'QUERY', 'MODIFY', 'UPLOAD'].map(scope => [`DEVMGR_LIMIT_${scope}`, 'off']),
);

export function startProgram(
  args: readonly string[],
  { home, env = {}, input = '', prefix = [] }: RunSettings,
  file = program,
): Running {
  const [command, ...rest] = [...prefix, process.execPath, file, ...args] as [string, ...string[]];
  const child = spawn(command, rest, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      ...process.env,
      ...noLimits,
      HOME: home,
      XDG_DATA_HOME: '',
      DEVMGR_HOME: home,
      DEVMGR_ADMIN_PASSWORD: adminPassword,
      NO_COLOR: '1',
      ...env,
    },
  });
  child.stdin!.end(input);
  let stdout = '';
  let stderr = '';
  child.stdout!.on('data', chunk => {
    stdout += chunk;
  });
  child.stderr!.on('data', chunk => {
    stderr += chunk;
  });
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }));
  return { child, lines, ended };
}

/** Runs a command to its end. */
export function runProgram(args: readonly string[], settings: RunSettings): Promise<Ran> {
  return startProgram(args, settings).ended;
}

export interface ProgramDaemon {
  readonly url: string;
  stop(): Promise<number | null>;
}

/** `daemon run` with cheap password hashes on a free port, with an administrator logged in on the home. */
export async function startDaemonProgram(settings: RunSettings, flags: readonly string[] = []): Promise<ProgramDaemon> {
  const running = startProgram(
    ['daemon', 'run', '--port', '0', '--json', ...flags],
    settings,
    programFile('program-main'),
  );
  const first = await running.lines.next();
  for (let line = first; ; line = await running.lines.next()) {
    if (line.done) throw new Error(`the daemon ended: ${(await running.ended).stderr}`);
    const event = JSON.parse(line.value) as { event?: string; url: string };
    if (event.event !== 'listening') continue;
    // Its log continues; it has to be read.
    running.child.stdout!.resume();
    const login = await runProgram(['login', '--username', 'admin', '--password-stdin', '--server', event.url], {
      ...settings,
      prefix: [],
      input: `${adminPassword}\n`,
    });
    if (login.code !== 0) throw new Error(`login failed: ${login.stderr}`);
    return {
      url: event.url,
      async stop() {
        running.child.kill('SIGTERM');
        return (await running.ended).code;
      },
    };
  }
}
