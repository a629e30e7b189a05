/** The daemon of a home: whether it runs, starting it in the background, stopping it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { endpoints } from '../../contract/endpoints.ts';
import { type DaemonInfo, environment, homeFiles } from '../../contract/local.ts';
import type { StartFailure } from '../../contract/programs.ts';
import { openEnvelope } from '../client/envelope.ts';
import { fieldsOf } from '../client/exchange.ts';
import { readText, timeouts } from '../client/http.ts';
import { sendHttp } from '../client/transport.ts';
import { exitCodes } from '../exit-codes.ts';
import { Fault, failure, isFault, systemCode, systemWords } from '../fault.ts';
import { poll } from '../retry.ts';
import { freePort, keptPort, portOf, storeDaemonStart } from '../settings/daemon-start.ts';
import { isAlive, isDaemon, selfCommand } from '../settings/processes.ts';
import { runningDaemon, socketOf } from '../settings/settings.ts';
import { logEntries, openLog } from './daemon-log.ts';

/** Report of a daemon about itself. */
interface DaemonHealth {
  readonly status: string;
  readonly service: string;
  readonly version: string;
  readonly ready: boolean;
  /** Why it is not ready; absent in earlier versions. */
  readonly reason?: string | null;
  readonly uptimeSeconds: number;
}

const pollMs = 25;
/** A daemon takes the lock of its home, then writes its pid beside it: longer than that takes. */
const graceMs = 300;
const startMs = 20_000;
const stopMs = 30_000;
/** A daemon on this machine answers within milliseconds, a busy one within seconds. */
const healthTimeouts = { ...timeouts, connectMs: 5_000, headersMs: 5_000 };

/** Report of the daemon at an address about itself; null if no devmgr answers there. */
export async function healthAt(
  address: string,
  signal: AbortSignal,
  socketPath: string | null = null,
): Promise<DaemonHealth | null> {
  try {
    const { method, path } = endpoints.getHealth;
    // The daemon is on this machine, and the request has no secrets: any certificate will do.
    const url = new URL(address + path);
    const request = {
      method,
      url,
      headers: {},
      signal,
      socketPath,
      anyCertificate: true,
      timeouts: healthTimeouts,
    } as const;
    const response = await sendHttp(request);
    const text = await readText(response, address, signal);
    const health = openEnvelope({ ...response, text }, address, fieldsOf('getHealth')) as DaemonHealth;
    return health.service === 'devmgr' ? health : null;
  } catch (error) {
    if (isFault(error, 'interrupted')) throw error;
    return null;
  }
}

/** The daemon of a home, if it runs and answers; else null. */
export async function findDaemon(
  home: string,
  signal: AbortSignal,
): Promise<(DaemonInfo & { health: DaemonHealth }) | null> {
  const info = runningDaemon(home);
  if (info === null) return null;
  const health = await healthAt(info.url, signal, socketOf(info));
  return health ? { ...info, health } : null;
}

/** Why the daemon of a home, which was not found, cannot be used, and what to do. */
export function daemonMissing(home: string): { readonly what: string; readonly fix: string } {
  const silent = runningDaemon(home);
  if (silent === null) {
    const last = logEntries(home, 0).at(-1);
    const what = `the daemon is not running (home ${home})`;
    return last?.isRefusal
      ? { what: `${what}; the last start in its log failed: ${last.words}`, fix: 'after that: devmgr daemon start' }
      : { what, fix: 'start it: devmgr daemon start' };
  }
  return {
    what: `the daemon is running (pid ${silent.pid}), but does not answer at ${silent.url}`,
    fix: 'see its log: devmgr daemon logs; if it hangs: devmgr daemon restart',
  };
}

/** Waits until the daemon of a home takes requests, no matter who starts it; false if it does not in time. */
export async function awaitDaemon(home: string, signal: AbortSignal): Promise<boolean> {
  const isReady = async () => (await findDaemon(home, signal))?.health.ready || null;
  return (await poll(isReady, { everyMs: pollMs, forMs: startMs, signal })) !== null;
}

interface StartOptions {
  readonly home: string;
  /** Null takes the port that the daemon had last, else the usual one; a free one if those are in use. */
  readonly port: number | null;
  /** Further arguments of `daemon run`. */
  readonly args: readonly string[];
  readonly signal: AbortSignal;
}

/** A daemon that runs after a start. */
export interface StartedDaemon extends DaemonInfo {
  /** The port that it would have, if another program had not taken it; else null. */
  readonly insteadOf: number | null;
}

/** A start that failed. */
interface FailedStart {
  readonly fault: Fault;
  /** Null if the daemon names none. */
  readonly reason: StartFailure | null;
}

/**
 * Starts the daemon and waits until it takes requests. If another process has just started one, that one is returned. A fault
 * with the end of the log if the daemon does not start.
 */
export async function startDaemon(options: StartOptions): Promise<StartedDaemon> {
  const wanted = options.port ?? keptPort(options.home);
  const isChosen = options.port === null;
  const port = isChosen ? await freePort(wanted) : wanted;
  const first = await tryStart(port, options);
  // Another program may have taken the port since it was found free.
  const wasTaken = isChosen && port !== 0 && 'fault' in first && first.reason === 'PORT_IN_USE';
  const again = wasTaken && !isHomeHeld(options.home) && !options.signal.aborted;
  const last = again ? await tryStart(0, options) : first;
  if ('fault' in last) throw last.fault;
  return { ...last, insteadOf: isChosen && portOf(last.url) !== wanted ? wanted : null };
}

/** Notice that the daemon has another port than before: two lines, the second one with a command. Null if it has not. */
export function portNotice({ url, insteadOf }: StartedDaemon): string | null {
  if (insteadOf === null) return null;
  return `Port ${insteadOf} is in use by another program: the daemon uses ${portOf(url)}, also after a restart.\nTo choose another port: devmgr daemon restart --port PORT`;
}

async function tryStart(port: number, options: StartOptions): Promise<DaemonInfo | FailedStart> {
  const { home, signal } = options;
  const log = openLog(home);
  const child = launch(options, port, log.fd);
  closeSync(log.fd);
  const exit = exitOf(child);
  const info = await startedDaemon(home, () => exit.words !== null, signal);
  child.unref();
  if (info === null) return failedStart(home, log.size, exit);
  if (info.pid === child.pid) storeDaemonStart(home, { pid: info.pid, url: info.url, args: options.args });
  return info;
}

/** The daemon once it answers; null if it does not in time, or has ended and no other one is starting. */
async function startedDaemon(home: string, hasEnded: () => boolean, signal: AbortSignal): Promise<DaemonInfo | null> {
  let graceEnds = Number.POSITIVE_INFINITY;
  const found = await poll(
    async () => {
      const info = runningDaemon(home);
      if (info && (await healthAt(info.url, signal, socketOf(info)))) return info;
      // A second daemon on one home is refused while the first may still be starting.
      if (!hasEnded()) return null;
      if (isHomeHeld(home)) graceEnds = Number.POSITIVE_INFINITY;
      else if (graceEnds === Number.POSITIVE_INFINITY) graceEnds = Date.now() + graceMs;
      return Date.now() < graceEnds ? null : 'ended';
    },
    { everyMs: pollMs, forMs: startMs, signal },
  );
  return found === 'ended' ? null : found;
}

interface Exit {
  /** How the process ended; null while it runs. */
  words: string | null;
  code: number | null;
}

function exitOf(child: ChildProcess): Exit {
  const exit: Exit = { words: null, code: null };
  child.on('error', error => {
    exit.words = systemWords(error);
  });
  child.on('exit', (code, signal) => {
    exit.code = code;
    exit.words = signal ? `ended by ${signal}` : `exit code ${code}`;
  });
  return exit;
}

/** Whether a daemon holds the home, ready or not: it writes its pid beside the lock. */
function isHomeHeld(home: string): boolean {
  try {
    const pid = Number(readFileSync(`${join(home, homeFiles.lock)}.pid`, 'utf8'));
    return Number.isSafeInteger(pid) && pid > 0 && isDaemon(pid);
  } catch {
    return false;
  }
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

/** `logStart` is where this start begins in the log. */
function failedStart(home: string, logStart: number, exit: Exit): FailedStart {
  const entries = logEntries(home, logStart);
  const refusal = entries.findLast(({ isRefusal }) => isRefusal);
  // Lines before the refusal of a start are not the reason for it.
  const tail = (refusal ? [refusal] : entries).map(({ words }) => `\n  ${words}`).join('');
  const what =
    exit.words === null ? `did not become ready within ${startMs / 1000} s` : `ended at once (${exit.words})`;
  const fault = new Fault(
    // A flag or a variable that the daemon refuses is the user's.
    exit.code === exitCodes.usage ? 'usage' : 'unreachable',
    `the local daemon was started and ${what}${tail && `; the end of its log:${tail}`}`,
    `the whole log: devmgr daemon logs; in the foreground: devmgr daemon run --home ${home}`,
  );
  return { fault, reason: refusal?.reason ?? null };
}

/** Stops the daemon of a home and waits until it is gone. Resolves to the one that ran, null if none did. */
export async function stopDaemon(home: string, signal: AbortSignal): Promise<DaemonInfo | null> {
  // The system reuses ids: a process that is not a daemon is left alone.
  const info = runningDaemon(home);
  if (info === null) return null;
  try {
    process.kill(info.pid, 'SIGTERM');
  } catch (error) {
    if (systemCode(error) === 'ESRCH') return info;
    throw failure(`the daemon (pid ${info.pid}) cannot be stopped: ${systemWords(error)}`);
  }
  const drainMs = (info.drainSeconds ?? 0) * 1000;
  const gone = () => (isAlive(info.pid) ? null : info);
  const stopped = await poll(gone, { everyMs: pollMs, forMs: drainMs + stopMs, signal });
  if (stopped !== null) return stopped;
  throw failure(
    `the daemon (pid ${info.pid}) does not stop`,
    `see its log: devmgr daemon logs; to force it: kill -9 ${info.pid}`,
  );
}
