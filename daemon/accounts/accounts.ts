import type { UserRecord } from '../requests/callers.ts';
import { StoreFailure, StoreUnavailable } from '../store/commit.ts';
import { type CommitNotice, maxBehindMs, type Store } from '../store/store.ts';

/** The validity of a token is unknown because the store does not answer: 503. */
class AccountsUnknown extends StoreUnavailable {
  override name = 'AccountsUnknown';
  constructor(options?: ErrorOptions) {
    super('the store has not confirmed whether the token is still valid', options);
  }
}

/** Milliseconds that a read of an account may take if the cache is not valid. */
const READ_MS = 2000;

/**
 * Reads an account. If the cache is not valid, because this daemon has not learned of the latest commits of others, waits at most 2
 * s, and rejects with `AccountsUnknown` if the store does not answer.
 */
async function readAccount<T>(store: Pick<Store, 'behind'>, read: () => Promise<T>): Promise<T> {
  if (store.behind() < maxBehindMs) return read();
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
 * A cache of accounts: every request needs one. An entry is dropped in the same turn of the event loop in which a commit of this
 * daemon changes the account, so that the next request sees a disabled user or a changed password. Commits of other daemons are
 * learned of later: while that takes longer than `maxBehindMs`, accounts are read.
 */
export class AccountCache<K, V> {
  readonly #store: Pick<Store, 'behind'>;
  readonly #read: (key: K) => Promise<V | null>;
  readonly #most: number;
  readonly #isKept: (value: V) => boolean;
  readonly #known = new Map<K, V>();
  /** Raised at every drop: a read that started earlier must not store what it found. */
  #epoch = 0;

  /** `changed`: entries that a commit has changed; null for all. Beyond `most`, the first is dropped. `isKept`: values to cache. */
  constructor(
    store: Pick<Store, 'onCommit' | 'behind'>,
    read: (key: K) => Promise<V | null>,
    changed: (notice: CommitNotice) => readonly K[] | null,
    most = Number.POSITIVE_INFINITY,
    isKept: (value: V) => boolean = () => true,
  ) {
    this.#store = store;
    this.#read = read;
    this.#most = most;
    this.#isKept = isKept;
    store.onCommit(notice => {
      const keys = changed(notice);
      if (keys?.length !== 0) this.#epoch++;
      for (const key of keys ?? this.#known.keys()) this.#known.delete(key);
    });
  }

  /** The account, if it is cached and the cache is valid; undefined if not. */
  peek(key: K): V | undefined {
    return this.#store.behind() < maxBehindMs ? this.#known.get(key) : undefined;
  }

  /** The account as of now; null if there is none. Rejects with `AccountsUnknown` or another `StoreFailure`. */
  async get(key: K): Promise<V | null> {
    const cached = this.peek(key);
    if (cached) return cached;
    const epoch = this.#epoch;
    const found = await readAccount(this.#store, () => this.#read(key));
    if (!found || epoch !== this.#epoch || !this.#isKept(found)) return found;
    if (this.#known.size >= this.#most) this.#known.delete(this.#known.keys().next().value!);
    this.#known.set(key, found);
    return found;
  }
}

/** The users, by number. */
export class Accounts extends AccountCache<number, UserRecord> {
  constructor(store: Pick<Store, 'user' | 'onCommit' | 'behind'>) {
    super(
      store,
      number => store.user(number),
      ({ users, everything }) => (everything ? null : users),
    );
  }
}
