/** The daemon of this home: whether it runs, starting it in the background, ending it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type DaemonInfo, defaultHost, defaultPort, environment, homeFiles } from '../../contract/local.ts';
import { openEnvelope } from '../client/envelope.ts';
import { rest } from '../client/rest.ts';
import { readText, send } from '../client/transport.ts';
import { Fault, type FaultKind, interrupted, systemCode, systemWords } from '../fault.ts';
import { selfCommand } from '../settings/self.ts';
import { readDaemonInfo } from '../settings/settings.ts';
import { isAlive, isDaemon } from './alive.ts';

export interface Health {
  readonly status: string;
  readonly service: string;
  readonly version: string;
  readonly ready: boolean;
  readonly uptimeSeconds: number;
}

const pollMs = 25;
/** Between taking the lock and leaving its pid there. */
const graceMs = 300;
const startMs = 20_000;
const stopMs = 30_000;
const tailLines = 12;
const maxLogBytes = 10 * 1024 * 1024;

/** What the daemon at an address says of itself; null where no devmgr answers. */
export async function healthAt(address: string, signal: AbortSignal): Promise<Health | null> {
  try {
    const url = new URL(`${address}/api/health`);
    // Certificates of a daemon on this very machine are not judged here: nothing secret is asked or told.
    const answer = await send({ method: 'GET', url, headers: {}, signal, reuse: false, anyCertificate: true });
    const text = await readText(answer, address, signal);
    const data = openEnvelope({ status: answer.statusCode ?? 0, headers: answer.headers, text }, address, [
      'service',
      'version',
    ]);
    return (data as Health).service === 'devmgr' ? (data as Health) : null;
  } catch (error) {
    if (error instanceof Fault && error.kind === 'interrupted') throw error;
    return null;
  }
}

/** The daemon that runs on this home and answers, or null. */
export async function findDaemon(home: string, signal: AbortSignal): Promise<(DaemonInfo & { health: Health }) | null> {
  const info = readDaemonInfo(home);
  if (!info || !isDaemon(info.pid)) return null;
  const health = await healthAt(info.url, signal);
  return health ? { ...info, health } : null;
}

/** Waits until the daemon of a home takes requests, whoever starts it; false where it does not in time. */
export async function awaitDaemon(home: string, signal: AbortSignal): Promise<boolean> {
  for (const deadline = Date.now() + startMs; Date.now() < deadline; await pause(pollMs, signal)) {
    if ((await findDaemon(home, signal))?.health.ready) return true;
  }
  return false;
}

export interface StartOptions {
  readonly home: string;
  /** Null takes the usual port, or a free one where that is taken. */
  readonly port: number | null;
  /** Further arguments of `daemon run`. */
  readonly args: readonly string[];
  readonly signal: AbortSignal;
}

/** Starts the daemon and waits until it takes requests. Where another process has just started one, that one is found. */
export async function startDaemon(options: StartOptions): Promise<DaemonInfo> {
  if (options.port !== null) return startOn(options.port, options);
  const usualIsFree = await isPortFree(defaultPort);
  try {
    return await startOn(usualIsFree ? defaultPort : 0, options);
  } catch (error) {
    // The daemon of another home may have taken the port since it was looked at, or somebody who looked at it as well.
    const wasTaken = usualIsFree && !isHomeHeld(options.home) && /:\d+ is in use\b/.test((error as Error).message);
    if (!wasTaken || options.signal.aborted) throw error;
    return startOn(0, options);
  }
}

async function startOn(port: number, options: StartOptions): Promise<DaemonInfo> {
  const { home, signal } = options;
  const log = openLog(home);
  const logStart = log.size;
  const child = launch(options, port, log.fd);
  closeSync(log.fd);
  let ended: string | null = null;
  let exitCode: number | null = null;
  child.on('error', error => {
    ended = systemWords(error);
  });
  child.on('exit', (code, killer) => {
    exitCode = code;
    ended = killer ? `ended by ${killer}` : `exit code ${code}`;
  });
  const deadline = Date.now() + startMs;
  let graceEnds = Number.POSITIVE_INFINITY;
  while (Date.now() < Math.min(deadline, graceEnds)) {
    const info = readDaemonInfo(home);
    if (info && isDaemon(info.pid) && (await healthAt(info.url, signal))) {
      child.unref();
      return info;
    }
    // A second start on one home is refused, while the first may still be on its way.
    if (ended !== null) {
      if (isHomeHeld(home)) graceEnds = Number.POSITIVE_INFINITY;
      else if (graceEnds === Number.POSITIVE_INFINITY) graceEnds = Date.now() + graceMs;
    }
    await pause(pollMs, signal);
  }
  child.unref();
  // A flag or a setting of the environment that is wrong is so for whoever named it, too.
  throw notStarted(home, logStart, ended, exitCode === 2 ? 'usage' : 'unreachable');
}

/** Whether a daemon holds the home, ready or not: it leaves its pid beside the lock. */
function isHomeHeld(home: string): boolean {
  try {
    const pid = Number(readFileSync(`${join(home, homeFiles.lock)}.pid`, 'utf8'));
    return Number.isSafeInteger(pid) && pid > 0 && isDaemon(pid);
  } catch {
    return false;
  }
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await rest(milliseconds, signal);
  if (signal.aborted) throw interrupted();
}

function launch({ home, args }: StartOptions, port: number, log: number): ChildProcess {
  const self = selfCommand();
  const { [environment.token]: _token, [environment.server]: _server, ...env } = process.env;
  return spawn(self.file, [...self.args, 'daemon', 'run', '--home', home, '--port', String(port), '--json', ...args], {
    detached: true,
    stdio: ['ignore', log, log],
    env,
    cwd: home,
    windowsHide: true,
  });
}

function openLog(home: string): { fd: number; size: number } {
  const file = join(home, homeFiles.log);
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size <= maxLogBytes) return { fd: openSync(file, 'a', 0o600), size };
    renameSync(file, `${file}.1`);
    return { fd: openSync(file, 'a', 0o600), size: 0 };
  } catch (error) {
    throw new Fault(
      'failure',
      `the home folder ${home} cannot be used: ${systemWords(error)}`,
      'name another one with --home DIR or DEVMGR_HOME',
    );
  }
}

function notStarted(home: string, logStart: number, ended: string | null, kind: FaultKind): Fault {
  const tail = logTail(home, logStart);
  const what = ended === null ? `did not become ready within ${startMs / 1000} s` : `ended at once (${ended})`;
  return new Fault(
    kind,
    `the local daemon was started and ${what}${tail ? `; the end of its log:\n${tail}` : ''}`,
    `the whole log: devmgr daemon logs; in the foreground: devmgr daemon run --home ${home}`,
  );
}

/** The last lines that were written from a place in the log on; JSON lines are cut down to their message. */
function logTail(home: string, from: number): string {
  let text: string;
  try {
    text = readFileSync(join(home, homeFiles.log)).subarray(from).toString('utf8');
  } catch {
    return '';
  }
  return text
    .split('\n')
    .filter(line => line.trim() !== '')
    .slice(-tailLines)
    .map(line => `  ${logWords(line)}`)
    .join('\n');
}

function logWords(line: string): string {
  try {
    const entry = JSON.parse(line) as { msg?: unknown; message?: unknown; error?: { message?: unknown } };
    const words = entry.msg ?? entry.message ?? entry.error?.message;
    return typeof words === 'string' ? words : line;
  } catch {
    return line;
  }
}

function isPortFree(port: number): Promise<boolean> {
  const { createServer } = process.getBuiltinModule('node:net');
  return new Promise(resolve => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host: defaultHost, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

/** Ends the daemon of this home and waits until it is gone. Resolves to the one that ran, null where none did. */
export async function stopDaemon(home: string, signal: AbortSignal): Promise<DaemonInfo | null> {
  const info = readDaemonInfo(home);
  // A pid is used again: what is no daemon is left alone.
  if (!info || !isDaemon(info.pid)) return null;
  try {
    process.kill(info.pid, 'SIGTERM');
  } catch (error) {
    if (systemCode(error) === 'ESRCH') return info;
    throw new Fault('failure', `the daemon (pid ${info.pid}) cannot be ended: ${systemWords(error)}`);
  }
  const deadline = Date.now() + stopMs;
  while (isAlive(info.pid)) {
    if (Date.now() > deadline)
      throw new Fault(
        'failure',
        `the daemon (pid ${info.pid}) does not end`,
        `look at devmgr daemon logs; to end it by force: kill -9 ${info.pid}`,
      );
    await pause(pollMs, signal);
  }
  return info;
}
