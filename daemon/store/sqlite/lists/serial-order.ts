import type { Statements } from '../statements.ts';
import { type Bits, hasBit } from './bits.ts';
import type { Serials } from './serials.ts';
import type { Places } from './sorted-page.ts';

/** New ones up to here are merged in; for more it is faster to read the index of the database again. */
const mergeable = 10_000;
const chunk = 5000;

/**
 * The devices in the order of their serials (4 bytes a device), kept up when it is asked for. A page under filters at a
 * million devices takes 3 ms; the index of the database alone would look every device up: 300.
 */
export class SerialOrder {
  readonly #statements: Statements;
  readonly #serials: Serials;
  #order = new Uint32Array(0);

  constructor(statements: Statements, serials: Serials) {
    this.#statements = statements;
    this.#serials = serials;
  }

  /** Takes in the devices up to `last`. Yields now and then. */
  *upTo(last: number): Generator<void, void> {
    const missing = last - this.#order.length;
    if (missing <= 0) return;
    if (missing > mergeable) yield* this.#read(last);
    else yield* this.#merge(last);
  }

  /** Those of `bits`, from the place `offset` on. Yields now and then. */
  *page(bits: Bits, { offset, limit, descending }: Places): Generator<void, number[]> {
    const order = this.#order;
    const found: number[] = [];
    let skip = offset;
    for (let i = 0; i < order.length; i++) {
      if (i % 65_536 === 65_535) yield;
      const n = order[descending ? order.length - 1 - i : i]!;
      if (!hasBit(bits, n)) continue;
      if (skip > 0) skip--;
      else if (found.push(n) === limit) break;
    }
    return found;
  }

  *#read(last: number): Generator<void, void> {
    const order = new Uint32Array(last);
    let after = '';
    let next = 0;
    const sql = `SELECT number, serial_number AS serial FROM device WHERE serial_number > ? ORDER BY serial_number LIMIT ?`;
    for (;;) {
      const rows = this.#statements.all<{ number: number; serial: string }>(sql, after, chunk);
      for (const { number } of rows) if (number <= last) order[next++] = number;
      if (rows.length < chunk) break;
      after = rows[rows.length - 1]!.serial;
      yield;
    }
    this.#order = order;
  }

  *#merge(last: number): Generator<void, void> {
    const old = this.#order;
    const fresh = Uint32Array.from({ length: last - old.length }, (_, i) => old.length + 1 + i);
    fresh.sort((a, b) => this.#serials.compare(a, b));
    yield;
    const order = new Uint32Array(last);
    let [from, to] = [0, 0];
    for (const [i, n] of fresh.entries()) {
      const place = this.#place(old, n, from);
      order.set(old.subarray(from, place), to);
      to += place - from;
      order[to++] = n;
      from = place;
      if (i % 1000 === 999) yield;
    }
    order.set(old.subarray(from), to);
    this.#order = order;
  }

  /** Where device n belongs among others, not before `from`. */
  #place(order: Uint32Array, n: number, from: number): number {
    let [low, high] = [from, order.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#serials.compare(order[middle]!, n) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
