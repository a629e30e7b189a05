import { createHash } from 'node:crypto';
import { KeyedMutex } from '../base/concurrency.ts';
import { type AttemptCounter, type AttemptCounters, attemptCounters, entryKey } from '../requests/attempts.ts';
import { RetryLater } from '../requests/limiter.ts';
import { MemoryCounters } from '../store/memory/counters.ts';
import type { Counters } from '../store/short-lived.ts';

/** 429: too many wrong attempts. */
export class GuessingBlocked extends RetryLater {
  constructor(what: string, milliseconds: number) {
    super(`too many wrong ${what}`, Math.max(1, Math.ceil(milliseconds / 1000)));
  }
}

/** Who enters a confirmation. */
export interface Confirmer {
  /** By which all confirmations of the caller are counted. */
  readonly name: string;
  /** Number of the user; null for a service token. */
  readonly user: number | null;
}

/** How guessing is limited. */
export interface GuessingOptions {
  /** False if every attempt is answered. */
  readonly enabled: boolean;
  /** In memory if absent. */
  readonly counters?: Counters | undefined;
}

/**
 * Limits wrong passwords and activation codes, whatever address they come from. Attempts that concern the same secret run one
 * after the other, so that parallel ones cannot bypass a limit and parallel right ones are not refused. Those on other nodes run
 * at the same time; the result of one is only revealed if the attempts before it have not started a block by then. Everything
 * rejects with `StoreFailure` if the store of shared counters does not answer.
 */
export class Guessing {
  readonly #enabled: boolean;
  readonly #mutex = new KeyedMutex<string>();
  readonly #attempts: AttemptCounters;

  constructor({ enabled, counters = new MemoryCounters() }: GuessingOptions) {
    this.#enabled = enabled;
    this.#attempts = attemptCounters(counters);
  }

  /**
   * Returns whether the password of a login is right. `user`: the number of the user, null if none can log in under this name.
   * Refuses with 429, without a comparison, while the account is blocked. A right password ends the count.
   */
  login(username: string, user: number | null, compare: () => Promise<boolean>): Promise<boolean> {
    if (!this.#enabled) return compare();
    const { accounts, unknownNames } = this.#attempts;
    const counter = user === null ? unknownNames : accounts;
    // Of a name that a client chose, a digest: it has a fixed size.
    const key = user === null ? createHash('sha256').update(username).digest('base64') : String(user);
    return this.#mutex.run(`${user === null ? 'name' : 'user'} ${key}`, async () => {
      refuse('passwords for this account', await counter.blockedFor(key));
      const right = await compare();
      refuse('passwords for this account', await (right ? counter.right(key) : counter.wrong(key)));
      return right;
    });
  }

  /**
   * Returns whether a confirmation matches one of the accounts. `compare` gets those that are not blocked for the caller. Refuses with 429,
   * without a comparison, if the caller or every account is blocked. Only the owner's own entries block an account for its owner.
   * An error of `compare` does not count.
   */
  confirmation(
    caller: Confirmer,
    accounts: readonly number[],
    compare: (accounts: ReadonlySet<number>) => Promise<boolean>,
  ): Promise<boolean> {
    if (!this.#enabled) return compare(new Set(accounts));
    return this.#mutex.run('confirmation', async () => {
      const open = await this.#openAccounts('blockedFor', caller, accounts);
      const right = await compare(new Set(open));
      await this.#openAccounts(right ? 'right' : 'wrong', caller, open);
      return right;
    });
  }

  /** Checks the caller and the accounts, counts what `step` specifies, and returns the accounts that are not blocked. */
  async #openAccounts(
    step: keyof AttemptCounter,
    caller: Confirmer,
    accounts: readonly number[],
  ): Promise<readonly number[]> {
    const { callers, entries } = this.#attempts;
    // One after the other: of the last attempt that is answered, two nodes could otherwise take one count each.
    refuse('confirmations', await callers[step](caller.name));
    const ofAccounts = await Promise.all(accounts.map(account => entries[step](entryKey(account, caller.user))));
    refuse('confirmations', Math.min(...ofAccounts));
    return accounts.filter((_, i) => ofAccounts[i] === 0);
  }

  /** Counts a wrong activation code. Refuses with 429 if too many were given for the device before, also if this one is right. */
  async code(device: number, right: boolean): Promise<void> {
    if (!this.#enabled) return;
    const { devices } = this.#attempts;
    refuse('activation codes for this device', await devices[right ? 'right' : 'wrong'](String(device)));
  }
}

function refuse(what: string, milliseconds: number): void {
  if (milliseconds > 0) throw new GuessingBlocked(what, milliseconds);
}
