import type { Store, UserRecord } from '../store/store.ts';

/**
 * The users, kept in memory: every request asks for one. An entry is dropped in the same turn in which a commit that
 * touches the user is done, so that a disabled user or a changed password shows at the next request.
 */
export class Accounts {
  readonly #store: Store;
  readonly #users = new Map<number, UserRecord>();
  readonly #stop: () => void;
  /** Raised at every drop: a read that began before it must not put back what it found. */
  #epoch = 0;

  constructor(store: Store) {
    this.#store = store;
    this.#stop = store.onCommit(({ users }) => {
      if (users.length) this.#epoch++;
      for (const number of users) this.#users.delete(number);
    });
  }

  /** What is known without asking the store; undefined where it has to be asked. */
  peek(number: number): UserRecord | undefined {
    return this.#users.get(number);
  }

  async get(number: number): Promise<UserRecord | null> {
    const known = this.#users.get(number);
    if (known) return known;
    const epoch = this.#epoch;
    const user = await this.#store.user(number);
    if (user && epoch === this.#epoch) this.#users.set(number, user);
    return user;
  }

  close(): void {
    this.#stop();
  }
}
