import type { Statements } from '../statements.ts';
import { NumberSet } from './number-set.ts';

/** The devices of users with fewer are read from the index of the database each time: 0.3 µs a device. */
const fewDevices = 250;
const chunk = 5000;
/** Users whose devices are cached; the oldest entry is dropped first. */
const maxCached = 500;

/** The devices bound to a user. Only users with many devices are cached: there may be as many users as devices. */
export class DevicesOfUsers {
  readonly #statements: Statements;
  readonly #sets = new Map<string, NumberSet>();
  readonly #reading = new Map<string, NumberSet>();

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** The set if it is small or cached; else null: call `read`. */
  find(userId: string): NumberSet | null {
    const known = this.#sets.get(userId);
    if (known) return known;
    const numbers = this.#after(userId, 0, fewDevices);
    return numbers.length < fewDevices ? NumberSet.of(numbers) : null;
  }

  /** Reads the devices of a user with many devices, and caches them. Yields regularly. */
  *read(userId: string): Generator<void, NumberSet> {
    const set = new NumberSet();
    // `bind` also updates the part that has been read so far.
    this.#reading.set(userId, set);
    for (let after = 0; ; ) {
      const numbers = this.#after(userId, after, chunk);
      for (const n of numbers) set.add(n);
      if (numbers.length < chunk) break;
      after = numbers[numbers.length - 1]!;
      yield;
    }
    this.#reading.delete(userId);
    this.#sets.set(userId, set);
    if (this.#sets.size > maxCached) this.#sets.delete(this.#sets.keys().next().value!);
    return set;
  }

  /** Records that a device was bound to a user, or to none. */
  bind(n: number, userId: string | null): void {
    for (const sets of [this.#sets, this.#reading]) {
      for (const [id, set] of sets) if (id !== userId) set.delete(n);
      if (userId !== null) sets.get(userId)?.add(n);
    }
  }

  #after(userId: string, after: number, limit: number): number[] {
    return this.#statements.values<number>(
      'SELECT number FROM device WHERE user_id = ? AND number > ? ORDER BY number LIMIT ?',
      userId,
      after,
      limit,
    );
  }
}
