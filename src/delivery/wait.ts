/** Waits for a time, which a signal ends, or for something that is looked for again and again. */

/** The longest time of one timer, in milliseconds. */
const longestTimerMs = 2 ** 31 - 1;

/** Resolves after this time, at most 24 days, or when the signal is aborted. Never rejects. */
export async function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const finish = () => resolve();
  const timer = setTimeout(finish, Math.min(milliseconds, longestTimerMs));
  signal?.addEventListener('abort', finish);
  await promise;
  clearTimeout(timer);
  signal?.removeEventListener('abort', finish);
}

interface Options {
  readonly everyMs: number;
  /** Each pause is multiplied by a random factor between these two. Absent: 1. */
  readonly jitter?: readonly [least: number, most: number];
  /** Without a value the poll ends after this time; by default it does not. */
  readonly forMs?: number;
  readonly signal?: AbortSignal;
}

/** The first value of `read` that is not null; null once the time has passed, or the signal is aborted. */
export async function poll<T>(
  read: () => T | null | Promise<T | null>,
  { everyMs, jitter: [least, most] = [1, 1], forMs = Number.POSITIVE_INFINITY, signal }: Options,
): Promise<T | null> {
  for (const deadline = performance.now() + forMs; ; ) {
    const value = await read();
    if (value !== null || performance.now() >= deadline) return value;
    await sleep(everyMs * (least + (most - least) * Math.random()), signal);
    if (signal?.aborted) return null;
  }
}
