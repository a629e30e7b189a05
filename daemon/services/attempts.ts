/** Counters of wrong attempts, by key. */
import type { Backoff, SharedCounters } from '../store/counters.ts';

/** Wrong attempts that are answered before the first refusal. */
const FREE_ATTEMPTS = 10;
const MINUTE_MS = 60_000;
const CONFIRMATION_WINDOW_MS = 15 * MINUTE_MS;
const CODE_WINDOW_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** From the tenth wrong attempt on, each one starts a block that is twice as long as the one before. */
const backoff: Backoff = { free: FREE_ATTEMPTS, first: 15_000, longest: 15 * MINUTE_MS, forget: DAY_MS };
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

/** The counters of one registry. A shared one rejects with `StoreFailure` if the store does not answer. */
export interface AttemptCounters {
  readonly accounts: AttemptCounter;
  /** Separate from the accounts: names that do not exist cannot evict those that do. */
  readonly unknownNames: AttemptCounter;
  /** Those who confirm with a password or a key, by name. */
  readonly callers: AttemptCounter;
  /** The accounts that a confirmation is compared with: see `entryKey`. */
  readonly entries: AttemptCounter;
  /** Activation codes. */
  readonly devices: AttemptCounter;
  stop(): Promise<void>;
}

/**
 * What people enter for their own account and what others enter for it are counted separately, so that others cannot lock the
 * owner out. `user`: number of the user who enters it; null if that is not a user.
 */
export const entryKey = (account: number, user: number | null): string =>
  `${account} ${account === user ? 'own' : 'others'}`;

interface CountedAttempts {
  readonly wrong: number;
  /** Time of the first wrong attempt of the window. */
  readonly since: number;
  readonly blockedUntil: number;
}

/** The state after a further wrong attempt at `now`, and whether a right attempt ends the count. */
interface Policy {
  readonly next: (before: CountedAttempts | undefined, now: number) => CountedAttempts;
  readonly endsWhenRight: boolean;
}

const growing: Policy = {
  next(before, now) {
    const wrong = (before?.wrong ?? 0) + 1;
    const block = Math.min(backoff.first * 2 ** (wrong - backoff.free), backoff.longest);
    return { wrong, since: before?.since ?? now, blockedUntil: wrong < backoff.free ? now : now + block };
  },
  endsWhenRight: true,
};

/** Ten wrong attempts in a window that starts with the first one; then a block until it ends. */
const windowOf = (milliseconds: number): Policy => ({
  next(before, now) {
    const current = before && now < before.since + milliseconds ? before : { wrong: 0, since: now };
    const wrong = current.wrong + 1;
    return { wrong, since: current.since, blockedUntil: wrong < FREE_ATTEMPTS ? now : current.since + milliseconds };
  },
  endsWhenRight: false,
});

/** In memory, in constant time and bounded: two generations, of which the older is dropped as a whole after one to two days. */
class LocalAttempts implements AttemptCounter {
  readonly #policy: Policy;
  readonly #most: number;
  readonly #now: () => number;
  #current = new Map<string, CountedAttempts>();
  #previous = new Map<string, CountedAttempts>();
  #replaceAt = Number.NEGATIVE_INFINITY;

  constructor(policy: Policy, now: () => number, most: number) {
    this.#policy = policy;
    this.#now = now;
    this.#most = Math.ceil(most / 2);
  }

  blockedFor(key: string): number {
    const now = this.#now();
    return Math.max(0, (this.#find(key)?.blockedUntil ?? now) - now);
  }

  wrong(key: string): number {
    const blocked = this.blockedFor(key);
    if (blocked === 0) this.#add(key, this.#now());
    return blocked;
  }

  right(key: string): number {
    const blocked = this.blockedFor(key);
    if (blocked > 0 || !this.#policy.endsWhenRight) return blocked;
    this.#current.delete(key);
    this.#previous.delete(key);
    return 0;
  }

  #add(key: string, now: number): void {
    const attempts = this.#policy.next(this.#find(key), now);
    if (now >= this.#replaceAt || this.#current.size >= this.#most) {
      this.#previous = this.#current;
      this.#current = new Map();
      this.#replaceAt = now + DAY_MS;
    }
    this.#current.set(key, attempts);
  }

  #find(key: string): CountedAttempts | undefined {
    return this.#current.get(key) ?? this.#previous.get(key);
  }
}

/** Counters in the memory of one daemon. `now`: milliseconds on a clock that never goes back. `most`: keys that each remembers. */
export function localAttempts(now: () => number, most: number): AttemptCounters {
  const counter = (policy: Policy) => new LocalAttempts(policy, now, most);
  return {
    accounts: counter(growing),
    unknownNames: counter(growing),
    callers: counter(windowOf(CONFIRMATION_WINDOW_MS)),
    entries: counter(windowOf(CONFIRMATION_WINDOW_MS)),
    devices: counter(windowOf(CODE_WINDOW_MS)),
    async stop() {},
  };
}

const UNKNOWN_NAMES = 'wrong password for a name';

/** Counters that nodes share. What has ended is removed once a minute. */
export function sharedAttempts(counters: SharedCounters): AttemptCounters {
  const ofLogins = (scope: string): AttemptCounter => ({
    blockedFor: key => counters.blockedFor(scope, key, Number.MAX_SAFE_INTEGER),
    wrong: key => counters.wrong(scope, key, backoff),
    right: key => counters.right(scope, key),
  });
  const ofWindows = (scope: string, milliseconds: number): AttemptCounter => {
    const blockedFor = (key: string) => counters.blockedFor(scope, key, FREE_ATTEMPTS);
    const one = { scope, want: 1, need: 1, share: 1, most: FREE_ATTEMPTS, milliseconds };
    return {
      blockedFor,
      right: blockedFor,
      async wrong(key) {
        const { granted, left } = await counters.take({ ...one, key });
        return granted > 0 ? 0 : Math.max(1, left);
      },
    };
  };
  // If the store does not answer, the next sweep removes what this one has left.
  const sweep = () => void counters.sweep(UNKNOWN_NAMES, MOST_NAMES).catch(() => {});
  const timer = setInterval(sweep, SWEEP_MS).unref();
  return {
    accounts: ofLogins('wrong password for an account'),
    unknownNames: ofLogins(UNKNOWN_NAMES),
    callers: ofWindows('wrong confirmation by', CONFIRMATION_WINDOW_MS),
    entries: ofWindows('wrong confirmation of', CONFIRMATION_WINDOW_MS),
    devices: ofWindows('wrong code for', CODE_WINDOW_MS),
    async stop() {
      clearInterval(timer);
    },
  };
}
