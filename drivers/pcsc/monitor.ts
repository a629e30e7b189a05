import type { Reader, ReaderStatusFlags } from 'pcsc-mini';
import type { DriverStatus } from '../driver.ts';
import { cleanText } from '../text.ts';
import { openClient, type WatchingClient } from './client.ts';
import { nativeCode, toHardwareError } from './errors.ts';
import { type Surplus, watchSurplus } from './extra-readers.ts';
import { loadPcsc, type Pcsc } from './library.ts';
import { isPartOfAKey } from './names.ts';

export interface MonitorParts {
  readonly onReader: (reader: Reader, pcsc: Pcsc) => void;
  readonly onReaderGone: (name: string) => void;
  readonly onChange: (name: string, status: ReaderStatusFlags, pcsc: Pcsc) => void;
  /** The service is gone: nothing is watched any more, and the readers known so far are to be forgotten. */
  readonly onLost: () => void;
  /** Readers that are still there are given again, with their state, by a new client; the service never stopped. */
  readonly onRenewed: () => void;
  readonly onStatus: (state: DriverStatus['state'], detail: string) => void;
  readonly notice: (message: string, detail?: Readonly<Record<string, unknown>>) => void;
  readonly load: (() => Pcsc) | undefined;
  /** Milliseconds between two looks for a service that is away: the first, and the most it grows to. */
  readonly lookAgainAfter: { readonly first: number; readonly most: number };
}

export interface Monitor {
  /** Begins to watch, or reports why it cannot and keeps trying. Never throws. */
  start(): void;
  stop(): Promise<void>;
  /** Makes a new client though the service lives: the old one can no longer connect to cards. */
  renew(why: string): void;
}

/** Keeps a client of the PC/SC service alive, through the service being away, stopping and coming back. */
export function createMonitor(parts: MonitorParts): Monitor {
  let client: WatchingClient | null = null;
  let timer: NodeJS.Timeout | null = null;
  let wait = parts.lookAgainAfter.first;
  const readers = new Set<string>();
  /** Those beyond what a client watches. */
  const surplusNames = new Set<string>();
  let surplus: Surplus | null = null;
  let surplusFailure: string | null = null;

  function open(): void {
    timer = null;
    try {
      const pcsc = (parts.load ?? loadPcsc)();
      client = openClient(pcsc, {
        onError,
        onReader(reader) {
          readers.add(reader.name());
          surplus?.handOver(reader.name());
          surplusNames.delete(reader.name());
          parts.onReader(reader, pcsc);
          if (readers.size >= pcsc.MAX_READERS) watchBeyond(pcsc);
          tellReady(pcsc);
        },
        onReaderGone(name) {
          readers.delete(name);
          parts.onReaderGone(name);
          tellReady(pcsc);
        },
        onChange: (name, status) => parts.onChange(name, status, pcsc),
      });
      wait = parts.lookAgainAfter.first;
      tellReady(pcsc);
    } catch (error) {
      parts.onStatus('unavailable', toHardwareError(error).message);
      lookAgain();
    }
  }

  function lookAgain(): void {
    timer = setTimeout(open, wait);
    wait = Math.min(wait * 2, parts.lookAgainAfter.most);
  }

  /** The client is full: whether there are more is known to the service alone. */
  function watchBeyond(pcsc: Pcsc): void {
    if (surplus !== null || process.platform !== 'linux') return;
    surplusFailure = null;
    surplus = watchSurplus({
      pcsc,
      isWatched: name => readers.has(name),
      onReader(reader) {
        surplusNames.add(reader.name());
        parts.onReader(reader, pcsc);
        tellReady(pcsc);
      },
      onReaderGone(name) {
        surplusNames.delete(name);
        parts.onReaderGone(name);
        tellReady(pcsc);
      },
      onChange: (name, status) => parts.onChange(name, status, pcsc),
      onEnd(why) {
        surplusFailure = why;
        parts.notice('readers beyond the first are not watched', { why });
        tellReady(pcsc);
      },
    });
  }

  function tellReady({ MAX_READERS }: Pcsc): void {
    if (client === null) return;
    const names = [...readers, ...surplusNames]
      .filter(name => !isPartOfAKey(name))
      .map(name => cleanText(name) ?? 'a reader without a name');
    const watched = names.length > 1 ? `the readers ${names.join(', ')}` : `the reader ${names[0]}`;
    const what = names.length === 0 ? 'Watching for card readers; none is plugged in.' : `Watching ${watched}.`;
    const full = ` No more than ${MAX_READERS} can be watched here, those inside security keys included.`;
    const ends = surplus === null || surplusFailure !== null;
    parts.onStatus('ready', ends && readers.size >= MAX_READERS ? what + full : what);
  }

  function onError(error: Error): void {
    const failure = toHardwareError(error);
    if (failure.code !== 'unavailable') {
      renew(nativeCode(error) || error.message);
      return;
    }
    parts.notice('the PC/SC service is gone', { code: nativeCode(error) });
    void letGo();
    parts.onLost();
    parts.onStatus('unavailable', failure.message);
    lookAgain();
  }

  function renew(why: string): void {
    if (client === null) return;
    parts.notice('a new PC/SC client is made', { why });
    void letGo();
    parts.onRenewed();
    // Not at once: what broke the old client may break the next as well.
    lookAgain();
  }

  async function letGo(): Promise<void> {
    const old = client;
    client = null;
    surplus?.close();
    surplus = null;
    surplusNames.clear();
    readers.clear();
    await old?.close();
  }

  return {
    start: open,
    renew,
    async stop() {
      if (timer) clearTimeout(timer);
      timer = null;
      await letGo();
    },
  };
}
