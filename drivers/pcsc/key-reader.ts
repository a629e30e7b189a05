/** A reader inside a USB security key: where it hangs on the bus, and a line to its applets for whoever asks. */
import type { Card, Reader } from 'pcsc-mini';
import { HardwareError } from '../driver.ts';
import { trackNativeCall } from '../exit.ts';
import type { Connection } from '../protocols/simkey/index.ts';
import type { CardConnection } from '../protocols/ukey/connection.ts';
import type { Closable } from '../protocols/ukey/identify.ts';
import type { UsbPlace } from '../usb/place.ts';
import { toHardwareError } from './errors.ts';
import type { Pcsc } from './library.ts';
import { wholeAnswers } from './reader-profile.ts';
import { type SessionOptions, settle, untilAborted, withCard } from './session.ts';

export interface KeyReader {
  readonly name: string;
  /**
   * Null where the reader's driver does not tell. Rejects with a HardwareError where it could not be asked now. Pending for
   * as long as another program keeps the key in a transaction.
   */
  place(): Promise<UsbPlace | null>;
  /** Fails with a HardwareError. `close` does not wait for a card that keeps silent. */
  open(signal: AbortSignal, options: Pick<SessionOptions, 'traffic' | 'onLeak'>): Promise<CardConnection & Closable>;
  /** Settles when no native handle is out. */
  released(): Promise<void>;
}

/** SCARD_ATTR_CHANNEL_ID: 0x0020 and the USB bus and device number, where the reader is a USB device. */
const CHANNEL_ID = 0x0002_0110;
const CHANNEL_IS_USB = 0x0020;

export function createKeyReader(pcsc: Pcsc, reader: Reader, onLeak: SessionOptions['onLeak']): KeyReader {
  let place: Promise<UsbPlace | null> | null = null;
  // The binding allows a reader one call at a time.
  let native: Promise<unknown> = Promise.resolve();

  /** Does the work when the reader is free. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = trackNativeCall(native.then(work));
    native = turn.catch(() => undefined);
    return turn;
  }

  return {
    name: reader.name(),

    place() {
      // One question for all who ask while it is under way; after a failure it is asked anew.
      place ??= inTurn(() => askPlace(pcsc, reader, onLeak)).catch(error => {
        place = null;
        throw error;
      });
      return place;
    },

    async open(signal, options) {
      const opened = Promise.withResolvers<Connection>();
      const done = Promise.withResolvers<void>();
      signal.addEventListener('abort', () => done.resolve(), { once: true });
      const session = inTurn(() =>
        withCard(pcsc, reader, { signal, ...options }, async connection => {
          opened.resolve(connection);
          await done.promise;
        }),
      );
      session.catch(opened.reject);
      const connection = wholeAnswers(await untilAborted(opened.promise, signal));
      return {
        transmit: (apdu, limit) => untilAborted(connection.transmit(apdu, limit), limit),
        async close() {
          done.resolve();
        },
      };
    },

    released: () => native.then(() => undefined),
  };
}

/** Asks the reader itself: its card is neither powered nor disturbed. */
async function askPlace(pcsc: Pcsc, reader: Reader, onLeak: SessionOptions['onLeak']): Promise<UsbPlace | null> {
  let card: Card;
  try {
    card = await reader.connect(pcsc.CardMode.DIRECT, pcsc.Protocol.UNSET);
  } catch (error) {
    throw toHardwareError(error);
  }
  try {
    return placeOf(await card.attributeGet(CHANNEL_ID));
  } catch {
    // Readers whose driver knows no such attribute refuse it.
    return null;
  } finally {
    await settle(() => card.disconnect(pcsc.CardDisposition.LEAVE), onLeak);
  }
}

/** Reads the channel: a number of four bytes in the order of this machine, all of which are little-endian. */
export function placeOf(channel: Uint8Array): UsbPlace | null {
  if (channel.length < 4) return null;
  const value = Buffer.from(channel).readUInt32LE(0);
  return value >>> 16 === CHANNEL_IS_USB ? { bus: (value >>> 8) & 0xff, address: value & 0xff } : null;
}

/** What stands in the way where no reader of a key is there. */
export const noReader = (): HardwareError =>
  new HardwareError('unavailable', 'its smart card side has not appeared: pcscd shows no reader of this key');
