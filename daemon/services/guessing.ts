import { createHash } from 'node:crypto';
import { ApiError } from '../../src/contract/codes.ts';
import { KeyedMutex } from '../concurrency.ts';

/** Wrong attempts that are answered before the first refusal. */
const FREE_ATTEMPTS = 10;
const MINUTE_MS = 60_000;
const FIRST_BLOCK_MS = 15_000;
const LONGEST_BLOCK_MS = 15 * MINUTE_MS;
const CONFIRMATION_WINDOW_MS = 15 * MINUTE_MS;
const CODE_WINDOW_MS = 60 * MINUTE_MS;
/** Wrong attempts are forgotten one to two days after the last one. */
const FORGET_MS = 24 * 60 * MINUTE_MS;
/** Keys that each counter remembers: about 10 MB. Beyond that, those with the oldest attempts are forgotten. */
const MOST_KEYS = 50_000;

/** 429: too many wrong attempts. */
export class GuessingBlocked extends ApiError {
  /** Whole seconds until the next attempt is answered, at least 1. */
  readonly retryAfter: number;
  constructor(what: string, milliseconds: number) {
    const retryAfter = Math.max(1, Math.ceil(milliseconds / 1000));
    super(429, `too many wrong ${what}; try again in ${retryAfter} s`);
    this.retryAfter = retryAfter;
  }
}

interface Attempts {
  readonly wrong: number;
  /** Time of the first wrong attempt of the window. */
  readonly since: number;
  readonly blockedUntil: number;
}

/** The attempts after one more wrong attempt at `now`. */
type Policy = (before: Attempts | undefined, now: number) => Attempts;

/** From the tenth wrong attempt on, each one starts a block that is twice as long as the one before. */
const backoff: Policy = (before, now) => {
  const wrong = (before?.wrong ?? 0) + 1;
  const block = Math.min(FIRST_BLOCK_MS * 2 ** (wrong - FREE_ATTEMPTS), LONGEST_BLOCK_MS);
  return { wrong, since: before?.since ?? now, blockedUntil: wrong < FREE_ATTEMPTS ? now : now + block };
};

/** Ten wrong attempts in a window that starts with the first one; then a block until it ends. */
const windowOf =
  (milliseconds: number): Policy =>
  (before, now) => {
    const current = before && now < before.since + milliseconds ? before : { wrong: 0, since: now };
    const wrong = current.wrong + 1;
    return { wrong, since: current.since, blockedUntil: wrong < FREE_ATTEMPTS ? now : current.since + milliseconds };
  };

/** Counts wrong attempts by key, in constant time and bounded memory: two generations, of which the older is dropped as a whole. */
class WrongAttempts {
  readonly #policy: Policy;
  readonly #most: number;
  #current = new Map<string, Attempts>();
  #previous = new Map<string, Attempts>();
  #replaceAt = Number.NEGATIVE_INFINITY;

  constructor(policy: Policy, most: number) {
    this.#policy = policy;
    this.#most = Math.ceil(most / 2);
  }

  /** Milliseconds until the next attempt is answered; 0 if it is answered now. */
  blockedFor(key: string, now: number): number {
    return Math.max(0, (this.#find(key)?.blockedUntil ?? now) - now);
  }

  add(key: string, now: number): void {
    const attempts = this.#policy(this.#find(key), now);
    if (now >= this.#replaceAt || this.#current.size >= this.#most) {
      this.#previous = this.#current;
      this.#current = new Map();
      this.#replaceAt = now + FORGET_MS;
    }
    this.#current.set(key, attempts);
  }

  reset(key: string): void {
    this.#current.delete(key);
    this.#previous.delete(key);
  }

  #find(key: string): Attempts | undefined {
    return this.#current.get(key) ?? this.#previous.get(key);
  }
}

/** How guessing is limited. */
export interface GuessingOptions {
  /** False if every attempt is answered. */
  readonly enabled: boolean;
  /** Milliseconds on a clock that never goes back. */
  readonly now?: () => number;
  /** Keys that each counter remembers. */
  readonly most?: number;
}

/**
 * Limits wrong passwords and activation codes, whatever address they come from. Attempts that concern the same secret run one
 * after the other, so that parallel ones cannot bypass a limit and parallel right ones are not refused.
 */
export class Guessing {
  readonly #enabled: boolean;
  readonly #now: () => number;
  readonly #mutex = new KeyedMutex<string>();
  readonly #accounts: WrongAttempts;
  /** Apart from the accounts: names that do not exist cannot push out those that do. */
  readonly #unknownNames: WrongAttempts;
  readonly #callers: WrongAttempts;
  readonly #targets: WrongAttempts;
  readonly #devices: WrongAttempts;

  constructor({ enabled, now = () => performance.now(), most = MOST_KEYS }: GuessingOptions) {
    this.#enabled = enabled;
    this.#now = now;
    this.#accounts = new WrongAttempts(backoff, most);
    this.#unknownNames = new WrongAttempts(backoff, most);
    this.#callers = new WrongAttempts(windowOf(CONFIRMATION_WINDOW_MS), most);
    this.#targets = new WrongAttempts(windowOf(CONFIRMATION_WINDOW_MS), most);
    this.#devices = new WrongAttempts(windowOf(CODE_WINDOW_MS), most);
  }

  /**
   * Returns whether the password of a login is right. `user`: the number of the user, null if none can log in under this name.
   * Refuses with 429, without a comparison, while the account is blocked. A right password ends the count.
   */
  login(username: string, user: number | null, compare: () => Promise<boolean>): Promise<boolean> {
    if (!this.#enabled) return compare();
    const counter = user === null ? this.#unknownNames : this.#accounts;
    // Of a name that a client chose, a digest: it has a fixed size.
    const key = user === null ? createHash('sha256').update(username).digest('base64') : String(user);
    return this.#mutex.run(`${user === null ? 'name' : 'user'} ${key}`, async () => {
      const blocked = counter.blockedFor(key, this.#now());
      if (blocked > 0) throw new GuessingBlocked('passwords for this account', blocked);
      const right = await compare();
      if (right) counter.reset(key);
      else counter.add(key, this.#now());
      return right;
    });
  }

  /**
   * Returns whether a confirmation matches one of the accounts. `compare` gets those that are not blocked. Refuses with 429,
   * without a comparison, if the caller or every account is blocked. An error of `compare` does not count.
   */
  confirmation(
    caller: string,
    accounts: readonly number[],
    compare: (accounts: ReadonlySet<number>) => Promise<boolean>,
  ): Promise<boolean> {
    if (!this.#enabled) return compare(new Set(accounts));
    return this.#mutex.run('confirmation', async () => {
      const open = this.#openAccounts(caller, accounts);
      const right = await compare(open);
      if (right) return true;
      const now = this.#now();
      this.#callers.add(caller, now);
      for (const account of open) this.#targets.add(String(account), now);
      return false;
    });
  }

  #openAccounts(caller: string, accounts: readonly number[]): ReadonlySet<number> {
    const now = this.#now();
    const ofCaller = this.#callers.blockedFor(caller, now);
    const ofAccounts = accounts.map(account => this.#targets.blockedFor(String(account), now));
    const shortest = Math.max(ofCaller, Math.min(...ofAccounts));
    if (shortest > 0) throw new GuessingBlocked('confirmations', shortest);
    return new Set(accounts.filter((_, i) => ofAccounts[i] === 0));
  }

  /** Refuses with 429 if too many wrong activation codes were given for the device. */
  checkDevice(device: number): void {
    const blocked = this.#enabled ? this.#devices.blockedFor(String(device), this.#now()) : 0;
    if (blocked > 0) throw new GuessingBlocked('activation codes for this device', blocked);
  }

  /** Counts a wrong activation code. */
  wrongCode(device: number): void {
    if (this.#enabled) this.#devices.add(String(device), this.#now());
  }
}
