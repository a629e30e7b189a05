import type { DaemonInfo } from '../../contract/local.ts';
import type { Place } from '../client/client.ts';
import { Unreachable } from '../client/failures.ts';
import { readDaemonInfo, type Settings } from '../settings/settings.ts';
import { isDaemon } from './alive.ts';

/** A server that somebody else runs. */
export const remotePlace = (address: string): Place => ({
  address: () => Promise.resolve(address),
  revive: () => Promise.resolve(false),
  whereabouts: () => Promise.resolve(address),
});

export interface LocalPlaceOptions {
  readonly settings: Settings;
  readonly autostart: boolean;
  readonly signal: AbortSignal;
  readonly notice: (text: string) => void;
}

/** The daemon of this home; it is started when it is needed, unless that is forbidden. */
export class LocalPlace implements Place {
  readonly #options: LocalPlaceOptions;
  #address: string | null = null;
  #starting: Promise<DaemonInfo> | null = null;

  constructor(options: LocalPlaceOptions) {
    this.#options = options;
  }

  async address(): Promise<string> {
    this.#address ??= (await this.#running()) ?? (await this.#start()).url;
    return this.#address;
  }

  /** An address that was named is that of whoever answers there: perhaps the daemon of another home. */
  async #running(): Promise<string | null> {
    const { settings, signal } = this.#options;
    const info = readDaemonInfo(settings.home);
    if (info && isDaemon(info.pid) && (settings.server === null || settings.server === info.url)) return info.url;
    if (settings.server === null) return null;
    const { healthAt } = await import('./local-daemon.ts');
    return (await healthAt(settings.server, signal)) ? settings.server : null;
  }

  async revive(): Promise<boolean> {
    if (this.#starting) return false;
    this.#address = null;
    this.#address = (await this.#start()).url;
    return true;
  }

  async whereabouts(): Promise<string> {
    const info = readDaemonInfo(this.#options.settings.home);
    if (info && isDaemon(info.pid) && this.#options.settings.server === null) this.#address = info.url;
    return this.#address ?? this.address();
  }

  #start(): Promise<DaemonInfo> {
    const { settings, autostart, signal, notice } = this.#options;
    if (!autostart)
      return Promise.reject(
        new Unreachable(
          `the local daemon does not run (home ${settings.home})`,
          false,
          'start it: devmgr daemon start',
        ),
      );
    this.#starting ??= (async () => {
      const { startDaemon } = await import('./local-daemon.ts');
      const port = settings.server === null ? null : Number(new URL(settings.server).port) || 80;
      const info = await startDaemon({ home: settings.home, port, args: [], signal });
      notice(`started the local daemon (pid ${info.pid}) at ${info.url}`);
      return info;
    })();
    return this.#starting;
  }
}
