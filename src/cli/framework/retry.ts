/** Repeats: one loop for what failed, one for what is awaited, and the waits of both. */
import { interrupted } from './fault.ts';

/** Waits before further attempts, in milliseconds. */
export const retryWaits = {
  /** A read whose connection broke. */
  reading: [200, 800],
  /** A write with a key whose response was lost. */
  keyedWriting: [500, 1_000, 2_000, 4_000, 8_000],
  /** A batch of a run that takes long: a server that restarts does not end it. */
  batch: [500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000],
  /** A download of which nothing more arrives. */
  download: [250, 1_000, 3_000, 10_000, 20_000],
  /** A stream that was connected; the last wait repeats. */
  stream: [250, 500, 1_000, 2_000, 5_000, 10_000, 30_000],
} as const;

/**
 * Resolves as `attempt` does. After each failure, `recover` gets the error and the number of failures before it: it resolves once
 * another attempt makes sense, and throws what `retry` is to reject with.
 */
export async function retry<T>(
  attempt: () => Promise<T>,
  recover: (error: unknown, failures: number) => Promise<void>,
): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await attempt();
    } catch (error) {
      await recover(error, failures);
    }
  }
}

interface PollOptions {
  readonly everyMs: number;
  /** Without a value the poll ends after this time; by default it does not. */
  readonly forMs?: number;
  readonly signal: AbortSignal;
}

/** The first value of `read` that is not null; null once the time has passed. Throws `interrupted` if the signal is aborted. */
export async function poll<T>(
  read: () => T | null | Promise<T | null>,
  { everyMs, forMs = Number.POSITIVE_INFINITY, signal }: PollOptions,
): Promise<T | null> {
  for (const deadline = Date.now() + forMs; ; await pause(everyMs, signal)) {
    const value = await read();
    if (value !== null || Date.now() >= deadline) return value;
  }
}

/** Waits. Throws a fault of kind `interrupted` if the signal is aborted. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, signal);
  if (signal.aborted) throw interrupted();
}

/** Waits. An aborted signal ends the wait early, and without an error. */
export function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise(resolve => {
    const timer = setTimeout(finish, milliseconds);
    function finish(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      resolve();
    }
    signal.addEventListener('abort', finish);
  });
}
