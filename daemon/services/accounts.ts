import type { UserRecord } from '../domain/user.ts';
import { StoreFailure, StoreUnavailable } from '../store/commit.ts';
import { maxBehindMs, type Store } from '../store/store.ts';

/** The validity of a token is unknown because the store does not answer: 503. */
class AccountsUnknown extends StoreUnavailable {
  constructor(options?: ErrorOptions) {
    super('the store does not say whether the token is still valid', options);
    this.name = 'AccountsUnknown';
  }
}

/** Milliseconds that a read of an account may take if the cache is not valid. */
const READ_MS = 2000;

/** Whether cached accounts are valid. They are not if this daemon has not learned of the latest commits of other daemons. */
export const isCacheValid = (store: Pick<Store, 'behind'>): boolean => store.behind() < maxBehindMs;

/** Reads an account. If the cache is not valid, waits at most 2 s, and rejects with `AccountsUnknown` if the store does not answer. */
export async function readAccount<T>(store: Pick<Store, 'behind'>, read: () => Promise<T>): Promise<T> {
  if (isCacheValid(store)) return read();
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new AccountsUnknown()), READ_MS);
  try {
    return await Promise.race([read(), late]);
  } catch (error) {
    throw error instanceof StoreFailure && !(error instanceof AccountsUnknown)
      ? new AccountsUnknown({ cause: error })
      : error;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * A cache of the users: every request needs one. An entry is dropped in the same turn of the event loop in which a commit of this
 * daemon changes the user, so that the next request sees a disabled user or a changed password. Commits of other daemons are
 * learned of later: while that takes longer than `maxBehindMs`, users are read.
 */
export class Accounts {
  readonly #store: Pick<Store, 'user' | 'onCommit' | 'behind'>;
  readonly #users = new Map<number, UserRecord>();
  /** Raised at every drop: a read that started earlier must not store what it found. */
  #epoch = 0;

  constructor(store: Pick<Store, 'user' | 'onCommit' | 'behind'>) {
    this.#store = store;
    store.onCommit(({ users, everything }) => {
      if (users.length || everything) this.#epoch++;
      if (everything) this.#users.clear();
      for (const number of users) this.#users.delete(number);
    });
  }

  /** The user, if it is cached and the cache is valid; undefined if not. */
  peek(number: number): UserRecord | undefined {
    return isCacheValid(this.#store) ? this.#users.get(number) : undefined;
  }

  /** The user as of now; null if there is none. Rejects with `AccountsUnknown` or another `StoreFailure`. */
  async get(number: number): Promise<UserRecord | null> {
    const cached = this.peek(number);
    if (cached) return cached;
    const epoch = this.#epoch;
    const user = await readAccount(this.#store, () => this.#store.user(number));
    if (user && epoch === this.#epoch) this.#users.set(number, user);
    return user;
  }
}
