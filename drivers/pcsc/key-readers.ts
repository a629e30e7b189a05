import { HardwareError } from '../hardware-error.ts';
import type { KeyCardRequest } from '../key-cards.ts';
import type { CardConnection, Closable } from '../protocols/connection.ts';
import { HID_CLASS, type UsbLocation, usbDeviceAt } from '../usb/sysfs.ts';
import { type ApduObserver, type LeakObserver, untilAborted } from './card-session.ts';
import { KeyReader } from './key-reader.ts';
import type { CardPresence } from './presence.ts';
import { cardOnlyKeyIds, makerOf, parseReaderName } from './reader-names.ts';
import { type CardOnlyKey, cardOnlyKeyProfile, type ReaderProfile } from './reader-profile.ts';
import type { PcscReader } from './transport.ts';

/** Reports of the readers of keys. */
interface KeyReadersParts {
  /** This reader is the only interface of its key, so its slot has to be watched; `presence` is what it reported last. */
  readonly onCardOnlyKey: (reader: PcscReader, profile: ReaderProfile, presence: CardPresence | null) => void;
  readonly traffic: (keyId: string, ...apdu: Parameters<ApduObserver>) => void;
  readonly onLeak: LeakObserver;
}

interface ReaderEntry {
  readonly reader: KeyReader;
  presence: CardPresence | null;
  /** Settles when it is known whether the reader is the only interface of its key. */
  readonly classified: Promise<void>;
}

/** A reader and its location, if it reports one. */
interface LocatedReader {
  readonly entry: ReaderEntry;
  readonly location: UsbLocation | null;
}

/** The readers inside USB security keys. They are opened for the driver that knows the keys by their other interfaces. */
export class KeyReaders {
  readonly #parts: KeyReadersParts;
  readonly #entries = new Map<string, ReaderEntry>();
  readonly #listeners = new Set<() => void>();

  constructor(parts: KeyReadersParts) {
    this.#parts = parts;
  }

  /** A reader of this kind has appeared. */
  add(reader: PcscReader): void {
    const keyReader = new KeyReader(reader, this.#parts.onLeak);
    // Classified after the entry exists.
    const classified = Promise.resolve().then(() => this.#classify(keyReader, reader));
    this.#entries.set(keyReader.name, { reader: keyReader, presence: null, classified });
  }

  /** Does nothing for a name that is not known. */
  remove(name: string): void {
    this.#entries.delete(name);
  }

  /** Passes the claims of the card in a reader on. Does nothing for a name that is not known. */
  update(name: string, presence: CardPresence | null): void {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    const appeared = entry.presence === null && presence !== null;
    entry.presence = presence;
    if (appeared) for (const listener of this.#listeners) listener();
  }

  /** The names of the readers. */
  names(): string[] {
    return [...this.#entries.keys()];
  }

  /** As in KeyCards. */
  onArrival(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** As in KeyCards. */
  async open(key: KeyCardRequest, signal: AbortSignal): Promise<CardConnection & Closable> {
    const reader = await untilAborted(this.#find(key), signal);
    return reader.open(signal, (...apdu) => this.#parts.traffic(key.keyId, ...apdu));
  }

  /** Settles when every reader is classified. */
  async classified(): Promise<void> {
    await Promise.all([...this.#entries.values()].map(({ classified }) => classified));
  }

  /** Settles when no native handle is open. */
  async released(): Promise<void> {
    await Promise.all([...this.#entries.values()].map(({ reader }) => reader.released()));
  }

  async #classify(keyReader: KeyReader, reader: PcscReader): Promise<void> {
    const key = await cardOnlyKey(keyReader);
    const entry = this.#entries.get(keyReader.name);
    if (key === null || entry?.reader !== keyReader) return;
    this.#parts.onCardOnlyKey(reader, cardOnlyKeyProfile(key), entry.presence);
  }

  /** Asks all readers at once: one that another program holds does not answer, and the key may be behind another. */
  async #find({ vendorId, location }: KeyCardRequest): Promise<KeyReader> {
    const asked = [...this.#entries.values()].map(locate);
    const found = location && (await readerAt(location, asked));
    if (found) return found;
    const candidates = (await Promise.all(asked)).filter(
      one =>
        (one.location === null || location === null) &&
        one.entry.presence !== null &&
        makerOf(one.entry.reader.name) === vendorId,
    );
    // Without locations a reader can only be assigned if it is the only one of its maker.
    if (candidates.length > 1) throw new HardwareError('unavailable', AMBIGUOUS);
    if (candidates[0] === undefined) throw notFound();
    return candidates[0].entry.reader;
  }
}

const AMBIGUOUS =
  'its smart card interface cannot be distinguished from that of another key of this maker: plug the keys in one at a time';

const notFound = (): HardwareError =>
  new HardwareError('unavailable', 'its smart card interface has not appeared: pcscd lists no reader of this key');

async function locate(entry: ReaderEntry): Promise<LocatedReader> {
  return { entry, location: await entry.reader.location().catch(() => null) };
}

/** Resolves as soon as the reader at this location has answered; null after all have answered from elsewhere. */
function readerAt(location: UsbLocation, asked: readonly Promise<LocatedReader>[]): Promise<KeyReader | null> {
  const here = asked.map(async one => {
    const { entry, location: found } = await one;
    if (found?.bus !== location.bus || found.address !== location.address) throw notFound();
    return entry.reader;
  });
  return Promise.any(here).catch(() => null);
}

/** The key if this reader is its only interface; null if the key also has HID interfaces. */
async function cardOnlyKey(reader: KeyReader): Promise<CardOnlyKey | null> {
  const location = await reader.location().catch(() => null);
  const device = location && (await usbDeviceAt(location));
  if (device) return device.classes.has(HID_CLASS) ? null : { ...device, idsCertain: true };
  const ids = cardOnlyKeyIds(reader.name);
  return ids && { ...parseReaderName(reader.name), ...ids, idsCertain: false };
}
