import type { DriverStatus, Notice } from '../driver.ts';
import { cleanText } from '../text.ts';
import { nativeCode, toHardwareError } from './errors.ts';
import { loadPcsc } from './library.ts';
import { isSecurityKeyReader } from './reader-names.ts';
import type { Pcsc, ReaderHandlers, ReaderWatch, WatchHandlers } from './transport.ts';

/** Reports of a monitor. */
interface ServiceMonitorParts extends ReaderHandlers {
  /** The service is gone: nothing is watched any more, and all readers are to be forgotten. */
  readonly onLost: () => void;
  /** A new watch replaces the old one while the service runs: it reports the readers that are still there again. */
  readonly onRenewed: () => void;
  readonly onStatus: (state: DriverStatus['state'], detail: string) => void;
  readonly notice: Notice;
  /** Loads the transport; undefined for the one that is available. */
  readonly load: (() => Pcsc) | undefined;
  /** Milliseconds until the next attempt to reach the service: the first time, and at most. */
  readonly retryService: { readonly first: number; readonly most: number };
}

/** Keeps a watch of the readers running while the service is missing, stops and comes back. */
export class ServiceMonitor {
  readonly #parts: ServiceMonitorParts;
  #watch: ReaderWatch | null = null;
  #maxReaders = 0;
  /** Counts starts and stops: a start that was overtaken has no effect. */
  #attempt = 0;
  #timer: NodeJS.Timeout | null = null;
  #retryAfter: number;
  /** The names of the readers that the watch reports. */
  readonly #readers = new Set<string>();

  constructor(parts: ServiceMonitorParts) {
    this.#parts = parts;
    this.#retryAfter = parts.retryService.first;
  }

  /** Starts watching; if the service cannot be reached, reports why and keeps trying. Never rejects. */
  async start(): Promise<void> {
    this.#timer = null;
    const attempt = ++this.#attempt;
    try {
      const pcsc = (this.#parts.load ?? loadPcsc)();
      const watch = await pcsc.watch(this.#handlers());
      if (attempt !== this.#attempt) return watch.close();
      this.#watch = watch;
      this.#maxReaders = pcsc.maxReaders;
      this.#retryAfter = this.#parts.retryService.first;
      this.#reportReady();
    } catch (error) {
      if (attempt !== this.#attempt) return;
      this.#parts.onStatus('unavailable', toHardwareError(error).message);
      this.#startLater();
    }
  }

  /** Stops watching. Resolves when the watch has ended. */
  async stop(): Promise<void> {
    this.#attempt++;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#release();
  }

  /** Replaces a watch whose transport can no longer connect to cards, although the service runs. */
  renew(why: string): void {
    if (this.#watch === null) return;
    this.#parts.notice('the PC/SC client is replaced', { why });
    void this.#release();
    this.#parts.onRenewed();
    // Not at once: what broke the old one may break the new one as well.
    this.#startLater();
  }

  #startLater(): void {
    this.#timer = setTimeout(() => void this.start(), this.#retryAfter);
    this.#retryAfter = Math.min(this.#retryAfter * 2, this.#parts.retryService.most);
  }

  #handlers(): WatchHandlers {
    return {
      onError: error => this.#onError(error),
      onReader: reader => {
        this.#readers.add(reader.name());
        this.#parts.onReader(reader);
        this.#reportReady();
      },
      onReaderGone: name => {
        this.#readers.delete(name);
        this.#parts.onReaderGone(name);
        this.#reportReady();
      },
      onChange: (name, raw) => this.#parts.onChange(name, raw),
    };
  }

  #reportReady(): void {
    if (this.#watch === null) return;
    const most = this.#maxReaders;
    const limit = ` At most ${most} readers can be watched on this machine, including those inside security keys.`;
    this.#parts.onStatus('ready', this.#readerList() + (this.#readers.size >= most ? limit : ''));
  }

  #readerList(): string {
    const names = [...this.#readers]
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
    // First: keys that are reported as detached from now on were not unplugged.
    this.#parts.onStatus('unavailable', failure.message);
    this.#parts.onLost();
    this.#startLater();
  }

  async #release(): Promise<void> {
    const watch = this.#watch;
    this.#watch = null;
    this.#readers.clear();
    await watch?.close();
  }
}
