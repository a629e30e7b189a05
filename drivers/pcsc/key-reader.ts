import { trackNativeCall } from '../exit.ts';
import type { CardConnection, Closable } from '../protocols/connection.ts';
import type { UsbLocation } from '../usb/sysfs.ts';
import { type LeakObserver, type SessionOptions, settle, untilAborted, withCard } from './card-session.ts';
import { toHardwareError } from './errors.ts';
import { CARD_MODE, type Card, DISPOSITION, type PcscReader, PROTOCOL } from './transport.ts';

/** SCARD_ATTR_CHANNEL_ID of PC/SC part 3: for a USB reader 0020, the bus number and the device number. */
const ATTR_CHANNEL_ID = 0x0002_0110;
const CHANNEL_IS_USB = 0x0020;

/** A reader inside a USB security key. */
export class KeyReader {
  readonly name: string;
  readonly #reader: PcscReader;
  readonly #onLeak: LeakObserver;
  #location: Promise<UsbLocation | null> | null = null;
  /** The binding allows one call per reader at a time. */
  #nativeCall: Promise<unknown> = Promise.resolve();

  constructor(reader: PcscReader, onLeak: LeakObserver) {
    this.name = reader.name();
    this.#reader = reader;
    this.#onLeak = onLeak;
  }

  /**
   * Where the key is attached; null if the reader's driver does not report it. Rejects with a HardwareError if the reader
   * cannot be asked now. Pending as long as another program keeps the key in a transaction.
   */
  location(): Promise<UsbLocation | null> {
    // All callers share the pending request. After a failure the next call asks again.
    this.#location ??= this.#whenFree(() => this.#readLocation()).catch(error => {
      this.#location = null;
      throw error;
    });
    return this.#location;
  }

  /** Opens a connection to the key's applications. Fails with a HardwareError. `close` does not wait for a silent card. */
  async open(signal: AbortSignal, traffic: SessionOptions['traffic']): Promise<CardConnection & Closable> {
    const opened = Promise.withResolvers<CardConnection>();
    const done = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => done.resolve(), { once: true });
    const options = { signal, traffic, onLeak: this.#onLeak };
    const session = this.#whenFree(() =>
      withCard(this.#reader, options, async card => {
        opened.resolve(card);
        await done.promise;
      }),
    );
    session.catch(opened.reject);
    const card = await untilAborted(opened.promise, signal);
    return {
      transmit: card.transmit,
      async close() {
        done.resolve();
      },
    };
  }

  /** Settles when no native handle is open. */
  async released(): Promise<void> {
    await this.#nativeCall;
  }

  #whenFree<T>(work: () => Promise<T>): Promise<T> {
    const call = trackNativeCall(this.#nativeCall.then(work));
    this.#nativeCall = call.catch(() => undefined);
    return call;
  }

  /** Asks the reader itself: the card is neither powered nor disturbed. */
  async #readLocation(): Promise<UsbLocation | null> {
    let card: Card;
    try {
      card = await this.#reader.connect(CARD_MODE.DIRECT, PROTOCOL.UNSET);
    } catch (error) {
      throw toHardwareError(error);
    }
    try {
      return parseChannelId(await card.attributeGet(ATTR_CHANNEL_ID));
    } catch {
      // The reader's driver does not support this attribute.
      return null;
    } finally {
      await settle(() => card.disconnect(DISPOSITION.LEAVE), this.#onLeak);
    }
  }
}

/** Parses the channel id: four bytes in the order of this machine (little-endian everywhere). Null if it is not a USB channel. */
export function parseChannelId(channel: Uint8Array): UsbLocation | null {
  if (channel.length < 4) return null;
  const value = Buffer.from(channel).readUInt32LE(0);
  return value >>> 16 === CHANNEL_IS_USB ? { bus: (value >>> 8) & 0xff, address: value & 0xff } : null;
}
