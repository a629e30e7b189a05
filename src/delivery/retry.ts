/** How a failed attempt is repeated: a policy as data, a reducer of attempts, and the one loop. It has no clock and no I/O. */

/** When something that failed is tried again. */
export interface Schedule {
  /** Seconds before each further attempt; the last one repeats. */
  readonly pauses: readonly [number, ...number[]];
  /** Attempts after the first one; infinite for no end. */
  readonly retries: number;
  /** Bounds of a random factor for each pause, so that what failed together does not return together. Absent: 1. */
  readonly jitter?: readonly [least: number, most: number];
}

/** Milliseconds before the attempt after `failures` failed ones; null if there is none. `random` is from 0 to 1. */
export function waitMs(
  { pauses, retries, jitter: [least, most] = [1, 1] }: Schedule,
  failures: number,
  random: number = Math.random(),
): number | null {
  if (failures >= retries) return null;
  const pause = pauses[Math.min(failures, pauses.length - 1)]!;
  return Math.round(1000 * pause * (least + (most - least) * random));
}

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

/** How often and when an item is delivered again. */
export interface RetryPolicy extends Schedule {
  /** Milliseconds after the first failure from which on a further one is the last, however long the receiver asks to wait. */
  readonly patienceMs: number;
  /** The longest pause in seconds that a receiver can ask for. It can ask for a longer pause than the policy has, not for a shorter one. */
  readonly longestWait: number;
}

/** Pauses in seconds, each twice the one before, up to the longest. */
export function doubling(first: number, longest: number): readonly [number, ...number[]] {
  const rest = first < longest ? doubling(Math.min(2 * first, longest), longest) : [];
  return [first, ...rest];
}

/** Result of an attempt: it was delivered, the receiver refuses anything further, or it may be tried again. */
export interface AttemptResult {
  readonly result: 'delivered' | 'gone' | 'again';
  /** Why it has failed; null if it was delivered. */
  readonly reason: string | null;
  /** Seconds that the receiver asks to wait at least; null if it does not say. */
  readonly waitSeconds: number | null;
}

/** An attempt that has delivered its item. */
export const delivered: AttemptResult = { result: 'delivered', reason: null, waitSeconds: null };

/** An attempt that has failed and may be repeated. */
export const failed = (reason: string, waitSeconds: number | null = null) =>
  ({ result: 'again', reason, waitSeconds }) as const;

/** The failed attempts to deliver one item. Times are in milliseconds of the clock that the delivery uses. */
export interface RetryState {
  readonly failures: number;
  /** When the first of them was made; null without one. */
  readonly failingSince: number | null;
  /** When the next one is to be made; null for at once. */
  readonly nextAt: number | null;
}

/** No attempt has failed. */
export const untried: RetryState = { failures: 0, failingSince: null, nextAt: null };

/** Next step after an attempt. */
export interface RetryStep {
  readonly next: 'advance' | 'retry' | 'give-up';
  readonly state: RetryState;
}

/** Next step after an attempt. `random`, from 0 to 1, places its pause within the jitter. */
export function afterAttempt(
  policy: RetryPolicy,
  before: RetryState,
  { result, waitSeconds }: Pick<AttemptResult, 'result' | 'waitSeconds'>,
  { startedAt, endedAt, random }: { readonly startedAt: number; readonly endedAt: number; readonly random: number },
): RetryStep {
  if (result === 'delivered') return { next: 'advance', state: untried };
  const failures = before.failures + 1;
  const failingSince = before.failingSince ?? startedAt;
  const wait = waitMs(policy, before.failures, random);
  if (result === 'gone' || wait === null || endedAt - failingSince >= policy.patienceMs)
    return { next: 'give-up', state: { failures, failingSince, nextAt: null } };
  const asked = Math.round(1000 * Math.min(waitSeconds ?? 0, policy.longestWait));
  return { next: 'retry', state: { failures, failingSince, nextAt: endedAt + Math.max(wait, asked) } };
}
