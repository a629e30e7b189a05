/** The readers inside USB security keys: lent to whoever knows the key's other sides, and keys themselves where there are none. */
import type { Reader } from 'pcsc-mini';
import { HardwareError } from '../driver.ts';
import type { CardConnection } from '../protocols/ukey/connection.ts';
import type { Closable } from '../protocols/ukey/identify.ts';
import type { UsbPlace } from '../usb/place.ts';
import { HID_CLASS, usbDeviceAt } from '../usb/sysfs.ts';
import { aloneByName, makerByName, partsOfName } from './key-names.ts';
import { createKeyReader, type KeyReader, noReader } from './key-reader.ts';
import type { Pcsc } from './library.ts';
import type { Presence } from './presence.ts';
import { type KeyFacts, keySubject, type Subject } from './reader-profile.ts';
import { type SessionOptions, untilAborted } from './session.ts';

/** A key whose smart card side is asked for. */
export interface WantedKey {
  readonly keyId: string;
  /** Four lower-case hex digits. */
  readonly vendorId: string;
  /** Null where the system tells none. */
  readonly place: UsbPlace | null;
}

export interface KeyReadersParts {
  /** This reader is all there is of a key, and it is to be watched as `subject`; `presence` is what it told so far. */
  readonly onAlone: (reader: Reader, pcsc: Pcsc, subject: Subject, presence: Presence | null) => void;
  readonly traffic: (keyId: string, ...line: Parameters<SessionOptions['traffic']>) => void;
  readonly onLeak: SessionOptions['onLeak'];
}

export interface KeyReaders {
  add(reader: Reader, pcsc: Pcsc): void;
  remove(name: string): void;
  /** What the reader tells of the card in it. */
  update(name: string, presence: Presence | null): void;
  names(): string[];
  onArrival(listener: () => void): void;
  /** Fails with a HardwareError: `unavailable` while no reader of this key is there. */
  open(key: WantedKey, signal: AbortSignal): Promise<CardConnection & Closable>;
  /** Settles when it is known of every reader whether it stands alone. */
  settled(): Promise<void>;
  released(): Promise<void>;
}

interface Known {
  readonly reader: KeyReader;
  presence: Presence | null;
  readonly judged: Promise<void>;
}

export function createKeyReaders(parts: KeyReadersParts): KeyReaders {
  const known = new Map<string, Known>();
  const listeners = new Set<() => void>();

  async function judge(name: string, reader: Reader, pcsc: Pcsc, own: KeyReader): Promise<void> {
    const facts = await factsWhereAlone(own);
    const entry = known.get(name);
    if (facts === null || entry?.reader !== own) return;
    parts.onAlone(reader, pcsc, keySubject(facts), entry.presence);
  }

  /** Asks all readers at once: one that another program holds does not answer, and the key may be behind the next. */
  async function find({ vendorId, place }: WantedKey): Promise<KeyReader> {
    const asked = [...known.values()].map(async entry => ({
      entry,
      there: await entry.reader.place().catch(() => null),
    }));
    const there = place && (await readerAt(place, asked));
    if (there) return there;
    const unplaced = (await Promise.all(asked)).filter(
      ({ entry: { reader, presence }, there }) =>
        (there === null || place === null) && presence !== null && makerByName(reader.name) === vendorId,
    );
    // Where the system does not tell places, a reader can be given to its maker's only key alone.
    if (unplaced.length > 1) throw new HardwareError('unavailable', MORE_THAN_ONE);
    if (unplaced[0] === undefined) throw noReader();
    return unplaced[0].entry.reader;
  }

  return {
    add(reader, pcsc) {
      const own = createKeyReader(pcsc, reader, parts.onLeak);
      const name = reader.name();
      // Judged when it is in the table.
      const judged = Promise.resolve().then(() => judge(name, reader, pcsc, own));
      known.set(name, { reader: own, presence: null, judged });
    },
    remove: name => void known.delete(name),
    update(name, presence) {
      const entry = known.get(name);
      if (entry === undefined) return;
      const came = entry.presence === null && presence !== null;
      entry.presence = presence;
      if (came) for (const listener of listeners) listener();
    },
    names: () => [...known.keys()],
    onArrival: listener => void listeners.add(listener),
    async open(key, signal) {
      const reader = await untilAborted(find(key), signal);
      return reader.open(signal, { traffic: (...line) => parts.traffic(key.keyId, ...line), onLeak: parts.onLeak });
    },
    async settled() {
      await Promise.all([...known.values()].map(({ judged }) => judged));
    },
    async released() {
      await Promise.all([...known.values()].map(({ reader }) => reader.released()));
    },
  };
}

const MORE_THAN_ONE =
  'its smart card side cannot be told from that of another key of this maker: plug them in one at a time';

/** As soon as it has told its place; null when all have told theirs and it is not among them. */
function readerAt(
  place: UsbPlace,
  asked: readonly Promise<{ readonly entry: Known; readonly there: UsbPlace | null }>[],
): Promise<KeyReader | null> {
  const here = asked.map(async one => {
    const { entry, there } = await one;
    if (there?.bus !== place.bus || there.address !== place.address) throw noReader();
    return entry.reader;
  });
  return Promise.any(here).catch(() => null);
}

/** The key, where its reader is all it shows; null where the key is known by its HID interfaces. */
async function factsWhereAlone(reader: KeyReader): Promise<KeyFacts | null> {
  const place = await reader.place().catch(() => null);
  const device = place && (await usbDeviceAt(place));
  if (device) return device.classes.has(HID_CLASS) ? null : { ...device, told: true };
  const ids = aloneByName(reader.name);
  return ids && { ...partsOfName(reader.name), ...ids, told: false };
}
