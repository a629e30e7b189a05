import { NumberSet } from './number-set.ts';

/** Values with fewer devices are read from the index of the database each time: 0.3 µs a device. */
const fewDevices = 250;
const chunk = 5000;

/** Reads the numbers of the devices with a value from an index of the database: at most `limit` after the number `after`, ascending. */
export type ReadIndex = (value: string, after: number, limit: number) => readonly number[];

/** The devices with one value of a field. Only values with many devices are cached: there may be as many values as devices. */
export class IndexedSets {
  readonly #read: ReadIndex;
  readonly #most: number;
  readonly #sets = new Map<string, NumberSet>();
  readonly #reading = new Map<string, NumberSet>();

  /** `most`: values whose devices are cached; the oldest entry is dropped first. */
  constructor(read: ReadIndex, most: number) {
    this.#read = read;
    this.#most = most;
  }

  /** The set if it is small or cached; else null: call `read`. */
  find(value: string): NumberSet | null {
    const known = this.#sets.get(value);
    if (known) return known;
    const numbers = this.#read(value, 0, fewDevices);
    return numbers.length < fewDevices ? NumberSet.of(numbers) : null;
  }

  /** Reads the devices of a value with many devices, and caches them. Yields regularly. */
  *read(value: string): Generator<void, NumberSet> {
    const set = new NumberSet();
    // `change` also updates the part that has been read.
    this.#reading.set(value, set);
    for (let after = 0; ; ) {
      const numbers = this.#read(value, after, chunk);
      for (const n of numbers) set.add(n);
      if (numbers.length < chunk) break;
      after = numbers[numbers.length - 1]!;
      yield;
    }
    this.#reading.delete(value);
    this.#sets.set(value, set);
    if (this.#sets.size > this.#most) this.#sets.delete(this.#sets.keys().next().value!);
    return set;
  }

  /** Records which values a device has now. */
  change(n: number, values: readonly string[]): void {
    for (const sets of [this.#sets, this.#reading]) {
      for (const [value, set] of sets) if (!values.includes(value)) set.delete(n);
      for (const value of values) sets.get(value)?.add(n);
    }
  }
}
