import type { UserRecord } from '../domain/user.ts';
import type { Store } from '../store/store.ts';

/**
 * A cache of the users: every request needs one. An entry is dropped in the same turn of the event loop in which a commit
 * changes the user, so that the next request sees a disabled user or a changed password.
 */
export class Accounts {
  readonly #store: Pick<Store, 'user' | 'onCommit'>;
  readonly #users = new Map<number, UserRecord>();
  /** Raised at every drop: a read that started earlier must not store what it found. */
  #epoch = 0;

  constructor(store: Pick<Store, 'user' | 'onCommit'>) {
    this.#store = store;
    store.onCommit(({ users }) => {
      if (users.length) this.#epoch++;
      for (const number of users) this.#users.delete(number);
    });
  }

  /** The user, if it is cached; undefined if not. */
  peek(number: number): UserRecord | undefined {
    return this.#users.get(number);
  }

  /** The user as of now; null if there is none. */
  async get(number: number): Promise<UserRecord | null> {
    const cached = this.#users.get(number);
    if (cached) return cached;
    const epoch = this.#epoch;
    const user = await this.#store.user(number);
    if (user && epoch === this.#epoch) this.#users.set(number, user);
    return user;
  }
}
