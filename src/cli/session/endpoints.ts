import type { DaemonInfo } from '../../contract/local.ts';
import type { Endpoint } from '../client/endpoint.ts';
import { Unreachable } from '../client/failures.ts';
import { portOf } from '../settings/daemon-start.ts';
import { isDaemon } from '../settings/processes.ts';
import { readDaemonInfo, type Settings, socketOf } from '../settings/settings.ts';

export interface LocalEndpointOptions {
  readonly settings: Settings;
  /** Whether to start the daemon if it does not run. */
  readonly autostart: boolean;
  readonly signal: AbortSignal;
  readonly notice: (text: string) => void;
}

/** The endpoint of the daemon of this home. */
export class LocalEndpoint implements Endpoint {
  readonly #options: LocalEndpointOptions;
  #address: string | null = null;
  #socketPath: string | null = null;
  #starting: Promise<DaemonInfo> | null = null;

  constructor(options: LocalEndpointOptions) {
    this.#options = options;
  }

  get socketPath(): string | null {
    return this.#socketPath;
  }

  async address(): Promise<string> {
    this.#address ??= (await this.#running()) ?? this.#use(await this.#start());
    return this.#address;
  }

  /** Reaches this daemon by its socket from now on, if it has one. */
  #use(info: DaemonInfo): string {
    this.#socketPath = socketOf(info);
    return info.url;
  }

  /** The address of the running daemon, or the one that is named if a server answers there: perhaps that of another home. */
  async #running(): Promise<string | null> {
    const { settings, signal } = this.#options;
    const info = readDaemonInfo(settings.home);
    if (info && isDaemon(info.pid) && (settings.server === null || settings.server === info.url))
      return this.#use(info);
    if (settings.server === null) return null;
    const { healthAt } = await import('./local-daemon.ts');
    return (await healthAt(settings.server, signal)) ? settings.server : null;
  }

  async restart(): Promise<boolean> {
    if (this.#starting) return false;
    this.#address = null;
    this.#address = this.#use(await this.#start());
    return true;
  }

  async currentAddress(): Promise<string> {
    const info = readDaemonInfo(this.#options.settings.home);
    if (info && isDaemon(info.pid) && this.#options.settings.server === null) this.#address = this.#use(info);
    return this.#address ?? this.address();
  }

  #start(): Promise<DaemonInfo> {
    const { settings, autostart } = this.#options;
    if (!autostart)
      return Promise.reject(
        new Unreachable(
          `the local daemon does not run (home ${settings.home})`,
          false,
          'start it: devmgr daemon start',
        ),
      );
    this.#starting ??= this.#startNow();
    return this.#starting;
  }

  async #startNow(): Promise<DaemonInfo> {
    const { settings, signal, notice } = this.#options;
    const { portNotice, startDaemon } = await import('./local-daemon.ts');
    const port = settings.server === null ? null : portOf(settings.server);
    const info = await startDaemon({ home: settings.home, port, args: [], signal });
    notice(`started the local daemon (pid ${info.pid}) at ${info.url}`);
    const moved = portNotice(info);
    if (moved !== null) notice(moved);
    return info;
  }
}
