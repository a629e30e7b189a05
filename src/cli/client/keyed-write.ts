/**
 * Sends a write again if its response was lost. That is safe only with a server that accepts idempotency keys: another one would
 * carry the write out twice. So the server must have said so before the write is sent, and again before it is repeated.
 */
import { waitMs } from '../../delivery/retry.ts';
import { retry, schedules } from '../retry.ts';
import { isLost, isServerRefusal, type NotServing, Unreachable } from './failures.ts';

/** A key for a write. */
export const newKey = (): string => crypto.randomUUID();

/** What a write is sent with. */
interface KeyedWrite<T> {
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

/** Resolves as `send` does. If no attempt gets a response, rejects with the first loss: the write may have been carried out. */
export async function sendKeyed<T>(write: KeyedWrite<T>): Promise<T> {
  const { send, stillAccepts, locate, pause, notice } = write;
  const accepted = await write.acceptsKeys().catch(error => {
    // A server that is silent would be silent again.
    if (error instanceof Unreachable && error.timedOut) throw error;
    return false;
  });
  let lost: Unreachable | NotServing | null = null;
  const attempt = async () => {
    if (lost === null) return send();
    await locate();
    if (!(await stillAccepts())) throw lost;
    return send();
  };
  return retry(attempt, async (error, failures) => {
    if (lost === null) {
      if (!accepted || !isLost(error)) throw error;
      lost = error;
      notice(`${error.message}; sending the request again (it is carried out only once)`);
    } else if (error === lost || !(error instanceof Unreachable || isLost(error) || isStillRunning(error))) throw error;
    const wait = waitMs(schedules.keyedWriting, failures);
    if (wait === null) throw lost;
    await pause(wait);
  });
}

/** The first attempt is not finished. A limit that is reached takes longer. */
const isStillRunning = (error: unknown): boolean =>
  isServerRefusal(error, 429) && error.waitSeconds !== null && error.waitSeconds <= 1;
