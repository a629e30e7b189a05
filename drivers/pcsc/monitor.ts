import type { Client, Reader } from 'pcsc-mini';
import type { DriverStatus } from '../driver.ts';
import { cleanText } from '../text.ts';
import { nativeCode, toHardwareError } from './errors.ts';
import { loadPcsc, type Pcsc } from './library.ts';

export interface MonitorParts {
  /** A reader is there. Its changes are the caller's to listen to. */
  readonly onReader: (reader: Reader, pcsc: Pcsc) => void;
  readonly onReaderGone: (name: string) => void;
  /** The service is gone: nothing is watched any more, and the readers known so far are to be forgotten. */
  readonly onLost: () => void;
  /** Readers that are still there are given again, with their state, by a new client; the service never stopped. */
  readonly onRenewed: () => void;
  readonly onStatus: (state: DriverStatus['state'], detail: string) => void;
  readonly notice: (message: string, detail?: Readonly<Record<string, unknown>>) => void;
  readonly load?: () => Pcsc;
  /** Milliseconds between two looks for a service that is away: the first, and the most it grows to. */
  readonly lookAgainAfter: { readonly first: number; readonly most: number };
}

export interface Monitor {
  /** Begins to watch, or reports why it cannot and keeps trying. Never throws. */
  start(): void;
  stop(): void;
  /** Makes a new client though the service lives: the old one can no longer connect to cards. */
  renew(why: string): void;
}

/**
 * Clients that must not be collected as garbage: the binding's finalizer of one whose service died throws and ends the
 * process, and one with a call still out would have its memory freed under it. One is added each time the service dies,
 * a reader is pulled in the middle of a call, or the driver stops: some kilobytes each.
 */
const graveyard: Client[] = [];

/** Keeps a client of the PC/SC service alive, through the service being away, stopping and coming back. */
export function createMonitor(parts: MonitorParts): Monitor {
  let client: Client | null = null;
  let spare: Client | null = null;
  let timer: NodeJS.Timeout | null = null;
  let wait = parts.lookAgainAfter.first;
  const readers = new Set<string>();

  function open(): void {
    timer = null;
    try {
      const pcsc = (parts.load ?? loadPcsc)();
      const fresh = spare ?? new pcsc.Client();
      spare = fresh;
      fresh.on('error', error => onError(fresh, error));
      fresh.on('reader', reader => onReader(fresh, reader, pcsc));
      fresh.start();
      spare = null;
      client = fresh;
      wait = parts.lookAgainAfter.first;
      tellReady(pcsc);
    } catch (error) {
      retire(spare);
      parts.onStatus('unavailable', toHardwareError(error).message);
      lookAgain();
    }
  }

  /** A client that never started can start later, once it was told to stop. */
  function retire(unstarted: Client | null): void {
    unstarted?.removeAllListeners();
    try {
      unstarted?.stop();
    } catch (error) {
      parts.notice('a PC/SC client could not be stopped', { code: nativeCode(error) });
      if (unstarted) graveyard.push(unstarted);
      spare = null;
    }
  }

  function lookAgain(): void {
    timer = setTimeout(open, wait);
    wait = Math.min(wait * 2, parts.lookAgainAfter.most);
  }

  function onReader(of: Client, reader: Reader, pcsc: Pcsc): void {
    if (of !== client) return;
    const name = reader.name();
    readers.add(name);
    reader.on('disconnect', () => {
      if (of !== client) return;
      readers.delete(name);
      parts.onReaderGone(name);
      tellReady(pcsc);
    });
    parts.onReader(reader, pcsc);
    tellReady(pcsc);
  }

  function tellReady({ MAX_READERS }: Pcsc): void {
    const names = [...readers].map(name => cleanText(name) ?? 'a reader without a name');
    const full = names.length >= MAX_READERS ? ` (no more than ${MAX_READERS} can be watched)` : '';
    const detail =
      names.length === 0
        ? 'Watching for card readers; none is plugged in.'
        : `Watching the reader${names.length > 1 ? 's' : ''} ${names.join(', ')}${full}.`;
    parts.onStatus('ready', detail);
  }

  function onError(of: Client, error: Error): void {
    if (of !== client) return;
    const failure = toHardwareError(error);
    if (failure.code !== 'unavailable') {
      renew(nativeCode(error) || error.message);
      return;
    }
    parts.notice('the PC/SC service is gone', { code: nativeCode(error) });
    abandon();
    parts.onLost();
    parts.onStatus('unavailable', failure.message);
    lookAgain();
  }

  function renew(why: string): void {
    parts.notice('a new PC/SC client is made', { why });
    abandon();
    parts.onRenewed();
    // Not at once: what broke the old client may break the next as well.
    lookAgain();
  }

  function abandon(): void {
    const old = client;
    client = null;
    readers.clear();
    if (old === null) return;
    old.removeAllListeners();
    old.on('error', () => undefined);
    graveyard.push(old);
    try {
      old.stop();
    } catch (error) {
      parts.notice('a PC/SC client could not be stopped', { code: nativeCode(error) });
    }
  }

  return {
    start: open,
    stop() {
      if (timer) clearTimeout(timer);
      timer = null;
      abandon();
    },
    renew(why) {
      if (client !== null) renew(why);
    },
  };
}
