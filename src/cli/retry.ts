/** Repeats what failed, and waits for what is awaited; Ctrl-C ends both. The schedules of all requests are here. */
import { doubling, type Schedule } from '../delivery/retry.ts';
import * as waiting from '../delivery/wait.ts';
import { interrupted } from './fault.ts';

const times = (...pauses: readonly [number, ...number[]]) => ({ pauses, retries: pauses.length });

/** When requests are sent again. */
export const schedules = {
  /** A read whose connection broke. */
  reading: times(0.2, 0.8),
  /** A write with a key whose response was lost. */
  keyedWriting: times(...doubling(0.5, 8)),
  /** A batch of a run that takes long: a server that restarts does not end it. */
  batch: times(0.5, 1, 2, 4, 8, 15, 30),
  /** A download of which nothing more arrives. */
  download: times(0.25, 1, 3, 10, 20),
  /** A stream that was connected. */
  stream: { pauses: [0.25, 0.5, 1, 2, 5, 10, 30], retries: Number.POSITIVE_INFINITY, jitter: [0.75, 1.25] },
  /** A registry that keys in a spool file wait for. */
  spool: { pauses: [1, 2, 4, 8, 15], retries: Number.POSITIVE_INFINITY },
  /** The start of a local daemon that dies again and again: without pauses, the restarts would occupy the machine. */
  starting: { pauses: doubling(1, 30), retries: Number.POSITIVE_INFINITY },
} as const satisfies Readonly<Record<string, Schedule>>;

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

/** Like `poll` of the delivery engine. Throws a fault of kind `interrupted` if the signal is aborted. */
export async function poll<T>(
  read: () => T | null | Promise<T | null>,
  options: { readonly everyMs: number; readonly forMs?: number; readonly signal: AbortSignal },
): Promise<T | null> {
  const value = await waiting.poll(read, options);
  if (value === null && options.signal.aborted) throw interrupted();
  return value;
}

/** Waits. Throws a fault of kind `interrupted` if the signal is aborted. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await waiting.sleep(milliseconds, signal);
  if (signal.aborted) throw interrupted();
}
