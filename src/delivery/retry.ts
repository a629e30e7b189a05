/** When a failed attempt is repeated: a policy as data, and a reducer of attempts. It has no clock and no I/O. */

/** How often and when an item is tried again. */
export interface RetryPolicy {
  /** Seconds before each further attempt; the last one repeats. */
  readonly pauses: readonly [number, ...number[]];
  /** Attempts after the first one; infinite for no end. */
  readonly retries: number;
  /** Milliseconds after the first failure from which on a further one is the last, however long the receiver asks to wait. */
  readonly patienceMs: number;
  /** The longest pause in seconds that a receiver can ask for. It can ask for a longer pause than the policy has, not for a shorter one. */
  readonly longestWait: number;
  /** Each pause is multiplied by a random factor between these two, so that senders that failed together do not return together. */
  readonly jitter: readonly [least: number, most: number];
}

/** Pauses in seconds, each twice the one before, up to the longest. */
export function doubling(first: number, longest: number): readonly [number, ...number[]] {
  const rest = first < longest ? doubling(Math.min(2 * first, longest), longest) : [];
  return [first, ...rest];
}

/** What came of an attempt: it was delivered, the receiver refuses anything further, or it may be tried again. */
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

/** What follows from an attempt. */
export interface RetryStep {
  readonly next: 'advance' | 'retry' | 'give-up';
  readonly state: RetryState;
}

/** What follows from an attempt. `random`, from 0 to 1, places its pause within the jitter. */
export function afterAttempt(
  policy: RetryPolicy,
  before: RetryState,
  { result, waitSeconds }: Pick<AttemptResult, 'result' | 'waitSeconds'>,
  { startedAt, endedAt, random }: { readonly startedAt: number; readonly endedAt: number; readonly random: number },
): RetryStep {
  if (result === 'delivered') return { next: 'advance', state: untried };
  const failures = before.failures + 1;
  const failingSince = before.failingSince ?? startedAt;
  if (result === 'gone' || failures > policy.retries || endedAt - failingSince >= policy.patienceMs)
    return { next: 'give-up', state: { failures, failingSince, nextAt: null } };
  const seconds = pauseSeconds(policy, failures, waitSeconds, random);
  return { next: 'retry', state: { failures, failingSince, nextAt: endedAt + Math.round(seconds * 1000) } };
}

function pauseSeconds(policy: RetryPolicy, failures: number, waitSeconds: number | null, random: number): number {
  const { pauses, longestWait } = policy;
  const [least, most] = policy.jitter;
  const pause = pauses[Math.min(failures, pauses.length) - 1]!;
  return Math.max(pause * (least + (most - least) * random), Math.min(waitSeconds ?? 0, longestWait));
}
