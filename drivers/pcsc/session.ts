import type { Card, Reader } from 'pcsc-mini';
import { HardwareError } from '../driver.ts';
import type { Connection } from '../protocols/simkey/index.ts';
import { toHardwareError, wasReset } from './errors.ts';
import type { Pcsc } from './library.ts';

export interface SessionOptions {
  readonly signal: AbortSignal;
  readonly traffic: (direction: 'out' | 'in', bytes: Uint8Array) => void;
  /** The binding could not give a connection back: one of the few it has is gone until a new client is made. */
  readonly onLeak: (cause: unknown) => void;
}

type Work<T> = (connection: Connection, atr: Uint8Array) => Promise<T>;

/**
 * Shares the card of a reader, keeps other programs out for the time of `work`, and leaves the card as it was found.
 * After a reset by another program `work` is done once more from the start.
 *
 * An aborted signal stops it at the next native call, not within one: a native call cannot be taken back. So the promise
 * settles only when every native handle has been given back, and may stay pending as long as a card keeps silent.
 */
export async function withCard<T>(pcsc: Pcsc, reader: Reader, options: SessionOptions, work: Work<T>): Promise<T> {
  const card = await native(() => connect(pcsc, reader), options.signal);
  try {
    try {
      return await inTransaction(pcsc, card, options, work);
    } catch (error) {
      const failure = toHardwareError(error);
      if (!wasReset(failure)) throw failure;
      await native(() => card.reconnect(pcsc.CardMode.SHARED, pcsc.CardDisposition.LEAVE), options.signal);
      return await inTransaction(pcsc, card, options, work);
    }
  } finally {
    await settle(() => card.disconnect(pcsc.CardDisposition.LEAVE), options.onLeak);
  }
}

/** T=0 is what every SIM speaks; a card that offers both is more often wrong in T=1. */
async function connect(pcsc: Pcsc, reader: Reader): Promise<Card> {
  try {
    return await reader.connect(pcsc.CardMode.SHARED, pcsc.Protocol.T0);
  } catch (error) {
    if (toHardwareError(error).code !== 'protocol') throw error;
    return await reader.connect(pcsc.CardMode.SHARED, pcsc.Protocol.ANY);
  }
}

async function inTransaction<T>(pcsc: Pcsc, card: Card, options: SessionOptions, work: Work<T>): Promise<T> {
  const transaction = await native(() => card.transaction(), options.signal);
  try {
    // The ATR that comes with a change of the reader has the right length and wrong bytes; this one is right.
    const { atr } = await native(() => card.state(), options.signal);
    return await work(connectionTo(card, options.traffic), atr);
  } finally {
    // Fails where the card is gone or was reset; the transaction has ended then.
    await settle(() => transaction.end(pcsc.CardDisposition.LEAVE));
  }
}

function connectionTo(card: Card, traffic: SessionOptions['traffic']): Connection {
  return {
    async transmit(apdu, signal) {
      traffic('out', apdu);
      const answer = await native(() => card.transmit(apdu), signal);
      traffic('in', answer);
      // A card pulled while it owed an answer is seen to "answer" nothing.
      if (answer.length === 0)
        throw new HardwareError('removed', 'The card lost contact while it was read. Insert it again.');
      return answer;
    },
  };
}

/** A native call that is not begun once the signal is aborted, and whose failure (thrown or rejected) is in words. */
async function native<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) throw abortReason(signal);
  try {
    return await call();
  } catch (error) {
    throw toHardwareError(error);
  }
}

/** Some of the binding's calls throw where others reject. */
export async function settle(
  call: () => Promise<void>,
  onFailure: (cause: unknown) => void = () => undefined,
): Promise<void> {
  try {
    await call();
  } catch (error) {
    onFailure(error);
  }
}

const SILENT =
  'The card does not answer. Take it out and insert it again; if that does not help, clean it, or unplug the reader and plug it in again.';

function abortReason(signal: AbortSignal): HardwareError {
  const cause: unknown = signal.reason;
  if (cause instanceof HardwareError) return cause;
  if (cause instanceof Error && cause.name === 'TimeoutError') return new HardwareError('timeout', SILENT, { cause });
  return new HardwareError('aborted', 'Reading the card was given up.', { cause });
}

/** Waits for `promise`, but no longer than until the signal is aborted. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(abortReason(signal));
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
