import { deadline, isTimeout, withSignal } from '../deadline.ts';
import type { TrafficLine } from '../driver.ts';
import { HardwareError } from '../hardware-error.ts';
import type { CardConnection } from '../protocols/connection.ts';
import { toHardwareError, wasReset } from './errors.ts';
import { CARD_MODE, type Card, DISPOSITION, type PcscReader, PROTOCOL } from './transport.ts';

/** Receives the APDUs of a session. */
export type ApduObserver = (direction: TrafficLine['direction'], bytes: Uint8Array) => void;

/** Called if the binding could not release a connection: it has only a few, and this one is lost until a new client is made. */
export type LeakObserver = (cause: unknown) => void;

/** Options of one session with a card. */
export interface SessionOptions {
  readonly signal: AbortSignal;
  readonly traffic: ApduObserver;
  readonly onLeak: LeakObserver;
}

type Work<T> = (card: CardConnection, atr: Uint8Array) => Promise<T>;

/**
 * Connects to the card in shared mode, runs `work` inside a transaction, and leaves the card as it was. If another program
 * resets the card, `work` runs once more from the start.
 *
 * A native call cannot be canceled: after an abort, `work` goes no further, and the promise settles only when every native handle is
 * released, so it can stay pending as long as the card does not answer.
 */
export async function withCard<T>(reader: PcscReader, options: SessionOptions, work: Work<T>): Promise<T> {
  const card = await native(() => connect(reader), options.signal);
  try {
    try {
      return await inTransaction(card, options, work);
    } catch (error) {
      const failure = toHardwareError(error);
      if (!wasReset(failure)) throw failure;
      await native(() => card.reconnect(CARD_MODE.SHARED, DISPOSITION.LEAVE), options.signal);
      return await inTransaction(card, options, work);
    }
  } finally {
    await settle(() => card.disconnect(DISPOSITION.LEAVE), options.onLeak);
  }
}

/** Every SIM supports T=0. A card that offers both protocols has more defects in T=1. */
async function connect(reader: PcscReader): Promise<Card> {
  try {
    return await reader.connect(CARD_MODE.SHARED, PROTOCOL.T0);
  } catch (error) {
    if (toHardwareError(error).code !== 'protocol') throw error;
    return await reader.connect(CARD_MODE.SHARED, PROTOCOL.ANY);
  }
}

async function inTransaction<T>(card: Card, options: SessionOptions, work: Work<T>): Promise<T> {
  const transaction = await native(() => card.transaction(), options.signal);
  const { connection, returned } = connectionTo(card, options.traffic);
  try {
    // The ATR in a reader's change event has the right length and wrong bytes. This one is right.
    const { atr } = await native(() => card.state(), options.signal);
    return await work(connection, atr);
  } finally {
    await returned();
    // Fails if the card was removed or reset: then the transaction has already ended.
    await settle(() => transaction.end(DISPOSITION.LEAVE));
  }
}

/** Milliseconds in which a card answers one command. A key of SCP11b takes 0.4 s. */
const EXCHANGE_LIMIT = 10_000;

/** A command that the card does not answer ends with its signal. Its native call continues: the next one, and `returned`, wait for it. */
function connectionTo(card: Card, traffic: ApduObserver) {
  let pending: Promise<unknown> = Promise.resolve();
  const connection: CardConnection = {
    async transmit(apdu, signal) {
      const limit = deadline(signal, EXCHANGE_LIMIT);
      const send = (): Promise<Uint8Array> => {
        traffic('out', apdu);
        return card.transmit(apdu);
      };
      const call = pending.then(() => native(send, limit));
      pending = call.catch(() => undefined);
      const response = await untilAborted(call, limit);
      traffic('in', response);
      // A card that is removed before it answers "answers" with nothing.
      if (response.length === 0) {
        throw new HardwareError('removed', 'The card lost contact while it was read. Insert it again.');
      }
      return response;
    },
  };
  return { connection, returned: () => pending };
}

/** Makes a native call unless the signal is aborted. Rejects only with a HardwareError. */
async function native<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) throw abortReason(signal);
  try {
    return await call();
  } catch (error) {
    throw toHardwareError(error);
  }
}

/** Makes a call whose failure only `onFailure` learns. Some of the binding's calls throw where others reject. */
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

const NO_ANSWER =
  'The card does not answer. Take it out and insert it again; if that does not help, clean it, or unplug the reader and plug it in again.';

function abortReason(signal: AbortSignal): HardwareError {
  const cause: unknown = signal.reason;
  if (cause instanceof HardwareError) return cause;
  return isTimeout(signal)
    ? new HardwareError('timeout', NO_ANSWER, { cause })
    : new HardwareError('aborted', 'Reading the card was canceled.', { cause });
}

/** Waits for `promise`, but no longer than until the signal is aborted. Then it rejects with the signal's HardwareError. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return withSignal(promise, signal, () => abortReason(signal));
}
