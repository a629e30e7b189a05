import type { Reader, ReaderStatusFlags } from 'pcsc-mini';
import type { DriverStatus, Notice } from '../driver.ts';
import { cleanText } from '../text.ts';
import { WatchingClient } from './client.ts';
import { nativeCode, toHardwareError } from './errors.ts';
import { ExtraReaders } from './extra-readers.ts';
import { loadPcsc, type Pcsc } from './library.ts';
import { isSecurityKeyReader } from './reader-names.ts';

/** What a monitor reports. */
export interface ServiceMonitorParts {
  readonly onReader: (reader: Reader, pcsc: Pcsc) => void;
  readonly onReaderGone: (name: string) => void;
  readonly onChange: (name: string, status: ReaderStatusFlags, pcsc: Pcsc) => void;
  /** The service is gone: nothing is watched any more, and all readers are to be forgotten. */
  readonly onLost: () => void;
  /** A new client replaces the old one while the service runs: it reports the readers that are still there again. */
  readonly onRenewed: () => void;
  readonly onStatus: (state: DriverStatus['state'], detail: string) => void;
  readonly notice: Notice;
  /** Loads the binding. */
  readonly load: (() => Pcsc) | undefined;
  /** Milliseconds until the next attempt to reach the service: the first time, and at most. */
  readonly retryService: { readonly first: number; readonly most: number };
}

/** Keeps a client of the PC/SC service running while the service is missing, stops and comes back. */
export class ServiceMonitor {
  readonly #parts: ServiceMonitorParts;
  #client: WatchingClient | null = null;
  #timer: NodeJS.Timeout | null = null;
  #retryAfter: number;
  /** The names of the readers that the client watches. */
  readonly #readers = new Set<string>();
  /** The names of those that it does not. */
  readonly #extraNames = new Set<string>();
  #extra: ExtraReaders | null = null;
  #extraFailed = false;

  constructor(parts: ServiceMonitorParts) {
    this.#parts = parts;
    this.#retryAfter = parts.retryService.first;
  }

  /** Starts watching; if the service cannot be reached, reports why and keeps trying. Never throws. */
  start(): void {
    this.#timer = null;
    try {
      const pcsc = (this.#parts.load ?? loadPcsc)();
      this.#client = this.#watch(pcsc);
      this.#retryAfter = this.#parts.retryService.first;
      this.#reportReady(pcsc);
    } catch (error) {
      this.#parts.onStatus('unavailable', toHardwareError(error).message);
      this.#startLater();
    }
  }

  /** Stops watching. Resolves when the client has ended. */
  async stop(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#release();
  }

  /** Replaces a client that can no longer connect to cards, although the service runs. */
  renew(why: string): void {
    if (this.#client === null) return;
    this.#parts.notice('the PC/SC client is replaced', { why });
    void this.#release();
    this.#parts.onRenewed();
    // Not at once: what broke the old client may break the new one as well.
    this.#startLater();
  }

  #startLater(): void {
    this.#timer = setTimeout(() => this.start(), this.#retryAfter);
    this.#retryAfter = Math.min(this.#retryAfter * 2, this.#parts.retryService.most);
  }

  #watch(pcsc: Pcsc): WatchingClient {
    return new WatchingClient(pcsc, {
      onError: error => this.#onError(error),
      onReader: reader => this.#addReader(reader, pcsc),
      onReaderGone: name => {
        this.#readers.delete(name);
        this.#readerGone(name, pcsc);
      },
      onChange: (name, status) => this.#parts.onChange(name, status, pcsc),
    });
  }

  #addReader(reader: Reader, pcsc: Pcsc): void {
    this.#readers.add(reader.name());
    this.#extra?.handOver(reader.name());
    this.#extraNames.delete(reader.name());
    this.#parts.onReader(reader, pcsc);
    if (this.#readers.size >= pcsc.MAX_READERS) this.#watchExtra(pcsc);
    this.#reportReady(pcsc);
  }

  #readerGone(name: string, pcsc: Pcsc): void {
    this.#parts.onReaderGone(name);
    this.#reportReady(pcsc);
  }

  /** The client is full: only the service knows whether there are more readers. */
  #watchExtra(pcsc: Pcsc): void {
    if (this.#extra !== null || process.platform !== 'linux') return;
    this.#extraFailed = false;
    this.#extra = new ExtraReaders({
      pcsc,
      isWatched: name => this.#readers.has(name),
      onReader: reader => {
        this.#extraNames.add(reader.name());
        this.#parts.onReader(reader, pcsc);
        this.#reportReady(pcsc);
      },
      onReaderGone: name => {
        this.#extraNames.delete(name);
        this.#readerGone(name, pcsc);
      },
      onChange: (name, status) => this.#parts.onChange(name, status, pcsc),
      onEnd: why => {
        this.#extraFailed = true;
        this.#parts.notice('only the first readers are watched', { why });
        this.#reportReady(pcsc);
      },
    });
  }

  #reportReady({ MAX_READERS }: Pcsc): void {
    if (this.#client === null) return;
    const limited = this.#readers.size >= MAX_READERS && (this.#extra === null || this.#extraFailed);
    const limit = ` No more than ${MAX_READERS} readers can be watched on this machine, including those inside security keys.`;
    this.#parts.onStatus('ready', this.#readerList() + (limited ? limit : ''));
  }

  #readerList(): string {
    const names = [...this.#readers, ...this.#extraNames]
      .filter(name => !isSecurityKeyReader(name))
      .map(name => cleanText(name) ?? 'a reader without a name');
    if (names.length === 0) return 'Watching for card readers; none is plugged in.';
    return names.length > 1 ? `Watching the readers ${names.join(', ')}.` : `Watching the reader ${names[0]}.`;
  }

  #onError(error: Error): void {
    const failure = toHardwareError(error);
    if (failure.code !== 'unavailable') {
      this.renew(nativeCode(error) || error.message);
      return;
    }
    this.#parts.notice('the PC/SC service is gone', { code: nativeCode(error) });
    void this.#release();
    this.#parts.onLost();
    this.#parts.onStatus('unavailable', failure.message);
    this.#startLater();
  }

  async #release(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    this.#extra?.close();
    this.#extra = null;
    this.#extraNames.clear();
    this.#readers.clear();
    await client?.close();
  }
}
