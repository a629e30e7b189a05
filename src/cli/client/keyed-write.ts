/**
 * Sends a write again if its response was lost. That is safe only with a server that accepts idempotency keys: another one would
 * carry the write out twice. So the server must have said so before the write is sent, and again before it is repeated.
 */
import { isServerRefusal, NotServing, Unreachable } from './failures.ts';

/** The response to a write with a key. */
export interface KeyedResponse<T> {
  readonly data: T;
  /** It is the stored response to an earlier request with this key. */
  readonly isReplay: boolean;
}

/** A key for a write. */
export const newKey = (): string => crypto.randomUUID();

/** Waits between the attempts. */
const retryMs = [500, 1_000, 2_000, 4_000, 8_000];

/** What a write is sent with. */
export interface KeyedWrite<T> {
  /** One attempt; each one has the same key. */
  readonly send: () => Promise<T>;
  /** Whether the server accepts keys; it may have said so earlier. Rejects with `Unreachable` if there is no response. */
  readonly acceptsKeys: () => Promise<boolean>;
  /** Likewise, but always asks. */
  readonly stillAccepts: () => Promise<boolean>;
  /** Finds out where the server is by now. Starts the local daemon if that is needed and allowed. */
  readonly locate: () => Promise<unknown>;
  /** Throws a fault of kind `interrupted` if the person ends the program. */
  readonly pause: (milliseconds: number) => Promise<void>;
  readonly notice: (text: string) => void;
}

/** Whether a response was lost, or the server does not serve requests now, and another attempt may get it. */
export const isLost = (error: unknown): error is Unreachable | NotServing =>
  error instanceof NotServing || (error instanceof Unreachable && error.maybeDone && !error.timedOut);

/** Resolves as `send` does. If no attempt gets a response, rejects with the first loss: the write may have been carried out. */
export async function sendKeyed<T>(write: KeyedWrite<T>): Promise<T> {
  const accepted = await write.acceptsKeys().catch(error => {
    // A server that is silent would be silent again.
    if (error instanceof Unreachable && error.timedOut) throw error;
    return false;
  });
  try {
    return await write.send();
  } catch (error) {
    if (!accepted || !isLost(error)) throw error;
    write.notice(`${error.message}; sending the request again (it is carried out once)`);
    return await sendAgain(write, error);
  }
}

async function sendAgain<T>(
  { send, stillAccepts, locate, pause }: KeyedWrite<T>,
  lost: Unreachable | NotServing,
): Promise<T> {
  for (const milliseconds of retryMs) {
    await pause(milliseconds);
    try {
      await locate();
      if (!(await stillAccepts())) throw lost;
      return await send();
    } catch (error) {
      if (error === lost || !(error instanceof Unreachable || isLost(error) || isStillRunning(error))) throw error;
    }
  }
  throw lost;
}

/** The first attempt is not finished. A limit that is reached takes longer. */
const isStillRunning = (error: unknown): boolean =>
  isServerRefusal(error, 429) && error.waitSeconds !== null && error.waitSeconds <= 1;
