/** Counters of wrong attempts, by key. */
import { dayMs, minuteMs } from '../../src/contract/durations.ts';
import { every } from '../base/concurrency.ts';
import type { Backoff, Counters, SharedCounters } from '../store/short-lived.ts';

/** Wrong attempts that are answered before the first refusal. */
const FREE_ATTEMPTS = 10;
const CONFIRMATION_WINDOW_MS = 15 * minuteMs;
const CODE_WINDOW_MS = 60 * minuteMs;
/** From the tenth wrong attempt on, each one starts a block that is twice as long as the one before. */
const backoff: Backoff = { free: FREE_ATTEMPTS, first: 15_000, longest: 15 * minuteMs, forget: dayMs };
/** Names that do not exist and are remembered in a shared store. */
const MOST_NAMES = 1_000_000;
const SWEEP_MS = 60_000;

/** All results are milliseconds until the next attempt is answered; 0 if it is answered now. A promise if nodes share the counter. */
export interface AttemptCounter {
  blockedFor(key: string): number | Promise<number>;
  /** Counts a wrong attempt, unless the key is blocked. */
  wrong(key: string): number | Promise<number>;
  /** The attempt was right. Unless the key is blocked, this ends a count that a right attempt ends. */
  right(key: string): number | Promise<number>;
}

/** Counters of one registry. */
export interface AttemptCounters {
  readonly accounts: AttemptCounter;
  /** Separate from the accounts: names that do not exist cannot evict those that do. */
  readonly unknownNames: AttemptCounter;
  /** Users who confirm with a password or a key, by name. */
  readonly callers: AttemptCounter;
  /** The accounts that a confirmation is compared with: see `entryKey`. */
  readonly entries: AttemptCounter;
  /** Activation codes. */
  readonly devices: AttemptCounter;
}

/**
 * Attempts of people for their own account and attempts of others for it are counted separately, so that others cannot lock the
 * owner out. `user`: number of the user who enters it; null if that is not a user.
 */
export const entryKey = (account: number, user: number | null): string =>
  `${account} ${account === user ? 'own' : 'others'}`;

const UNKNOWN_NAMES = 'wrong password for a name';

/** Counters of attempts, kept in `counters`. */
export function attemptCounters(counters: Counters): AttemptCounters {
  const ofLogins = (scope: string): AttemptCounter => ({
    blockedFor: key => counters.blockedFor(scope, key, Number.MAX_SAFE_INTEGER),
    wrong: key => counters.wrong(scope, key, backoff),
    right: key => counters.right(scope, key),
  });
  // Ten wrong attempts in a window that starts with the first one; then a block until it ends.
  const ofWindows = (scope: string, milliseconds: number): AttemptCounter => {
    const blockedFor = (key: string) => counters.blockedFor(scope, key, FREE_ATTEMPTS);
    const one = { scope, most: FREE_ATTEMPTS, milliseconds };
    return {
      blockedFor,
      right: blockedFor,
      async wrong(key) {
        const { granted, left } = await counters.take({ ...one, key });
        return granted > 0 ? 0 : Math.max(1, left);
      },
    };
  };
  return {
    accounts: ofLogins('wrong password for an account'),
    unknownNames: ofLogins(UNKNOWN_NAMES),
    callers: ofWindows('wrong confirmation by', CONFIRMATION_WINDOW_MS),
    entries: ofWindows('wrong confirmation of', CONFIRMATION_WINDOW_MS),
    devices: ofWindows('wrong code for', CODE_WINDOW_MS),
  };
}

/** Removes what has ended once a minute, and names that do not exist beyond a million. Returns the function that stops this. */
export function sweepCounters(counters: Pick<SharedCounters, 'sweep'>): () => void {
  // If the store does not answer, the next sweep removes what this one has left.
  return every(SWEEP_MS, () => void counters.sweep(UNKNOWN_NAMES, MOST_NAMES).catch(() => {}));
}
