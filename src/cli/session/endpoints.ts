import type { DaemonInfo } from '../../contract/local.ts';
import { waitMs } from '../../delivery/retry.ts';
import { schedules } from '../../delivery/schedules.ts';
import type { ServerEndpoint } from '../client/addresses.ts';
import { Unreachable } from '../client/failures.ts';
import { pause } from '../retry.ts';
import { portOf, readDaemonStart, registryFlags } from '../settings/daemon-start.ts';
import { isDaemon } from '../settings/processes.ts';
import { readDaemonInfo, runningDaemon, type Settings, socketOf } from '../settings/settings.ts';

const quietMs = 5 * 60_000;

interface LocalEndpointOptions {
  readonly settings: Settings;
  /** Whether to start the daemon if it does not run. */
  readonly autostart: boolean;
  readonly signal: AbortSignal;
  readonly notice: (text: string) => void;
}

/** The endpoint of the daemon of this home. */
export class LocalEndpoint implements ServerEndpoint {
  readonly #options: LocalEndpointOptions;
  #address: string | null = null;
  #socketPath: string | null = null;
  /** The process that is reached. */
  #pid: number | null = null;
  /** The start that is running. */
  #starting: Promise<DaemonInfo> | null = null;
  readonly #backoff = new StartBackoff();

  constructor(options: LocalEndpointOptions) {
    this.#options = options;
  }

  get socketPath(): string | null {
    return this.#socketPath;
  }

  async address(): Promise<string> {
    this.#address ??=
      (await this.#running()) ?? this.#use(await this.#start(registryFlags(this.#options.settings.home)));
    return this.#address;
  }

  /** Reaches this daemon by its socket from now on, if it has one. */
  #use(info: DaemonInfo): string {
    this.#socketPath = socketOf(info);
    this.#pid = info.pid;
    return info.url;
  }

  /** The address of the running daemon, or the one that is named if a server answers there: perhaps that of another home. */
  async #running(): Promise<string | null> {
    const { settings, signal } = this.#options;
    const info = runningDaemon(settings.home);
    if (info && (settings.server === null || settings.server === info.url)) return this.#use(info);
    if (settings.server === null) return null;
    const { healthAt } = await import('./local-daemon.ts');
    return (await healthAt(settings.server, signal)) ? settings.server : null;
  }

  /**
   * Starts the daemon again if it has died, with the options of its last start. The more often it has died in the last minutes, the
   * longer the pause before. A daemon that was stopped stays stopped: a restart by hand may be on its way.
   */
  async restart(): Promise<boolean> {
    const { home } = this.#options.settings;
    const info = readDaemonInfo(home);
    if (info === null) return false;
    if (isDaemon(info.pid)) return this.#isReplaced(info);
    const last = readDaemonStart(home);
    this.#address = this.#use(await this.#start(last?.pid === info.pid ? last.args : []));
    return true;
  }

  /** Whether another process has started the daemon again. */
  #isReplaced(info: DaemonInfo): boolean {
    const { server } = this.#options.settings;
    if (info.pid === this.#pid || (server !== null && server !== info.url)) return false;
    this.#address = this.#use(info);
    return true;
  }

  async currentAddress(): Promise<string> {
    const { home, server } = this.#options.settings;
    const info = server === null ? runningDaemon(home) : null;
    if (info) this.#address = this.#use(info);
    return this.#address ?? this.address();
  }

  #start(args: readonly string[]): Promise<DaemonInfo> {
    const { settings, autostart } = this.#options;
    if (!autostart)
      return Promise.reject(
        new Unreachable(
          `the local daemon is not running (home ${settings.home})`,
          false,
          'start it: devmgr daemon start',
        ),
      );
    this.#starting ??= this.#startNow(args).finally(() => {
      this.#starting = null;
    });
    return this.#starting;
  }

  async #startNow(args: readonly string[]): Promise<DaemonInfo> {
    const { settings, signal, notice } = this.#options;
    const { portNotice, startDaemon } = await import('./local-daemon.ts');
    await pause(this.#backoff.next(), signal);
    const port = settings.server === null ? null : portOf(settings.server);
    const info = await startDaemon({ home: settings.home, port, args, signal });
    notice(`started the local daemon (pid ${info.pid}) at ${info.url}`);
    const moved = portNotice(info);
    if (moved !== null) notice(moved);
    return info;
  }
}

/** Pauses before the starts of a daemon that dies again and again. */
export class StartBackoff {
  readonly #now: () => number;
  #starts = 0;
  #last = Number.NEGATIVE_INFINITY;

  /** `now` is a monotonic clock in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Milliseconds before the next start: 0 first, then those of the schedule, which restarts after 5 minutes without a start. */
  next(): number {
    if (this.#now() - this.#last > quietMs) this.#starts = 0;
    const wait = this.#starts === 0 ? 0 : waitMs(schedules.starting, this.#starts - 1)!;
    this.#starts++;
    this.#last = this.#now() + wait;
    return wait;
  }
}
