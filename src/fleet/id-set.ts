/** A set of device ids, with one bit for each number: a million devices take some 130 kB. */
import { deviceIds } from '../contract/ids.ts';

/** Ids per page. */
const pageSize = 2 ** 15;

export class IdSet {
  readonly #pages = new Map<number, Uint32Array>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Ignores what is not a deviceId. */
  add(deviceId: unknown): void {
    const id = numberOf(deviceId);
    if (id === null || this.#has(id)) return;
    const page = this.#pages.get(Math.floor(id / pageSize)) ?? new Uint32Array(pageSize / 32);
    this.#pages.set(Math.floor(id / pageSize), page);
    page[(id % pageSize) >>> 5]! |= 1 << (id & 31);
    this.#size++;
  }

  has(deviceId: unknown): boolean {
    const id = numberOf(deviceId);
    return id !== null && this.#has(id);
  }

  #has(id: number): boolean {
    const word = this.#pages.get(Math.floor(id / pageSize))?.[(id % pageSize) >>> 5] ?? 0;
    return (word & (1 << (id & 31))) !== 0;
  }
}

const numberOf = (deviceId: unknown): number | null =>
  typeof deviceId === 'string' ? deviceIds.parse(deviceId) : null;
