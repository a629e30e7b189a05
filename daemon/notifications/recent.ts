import type { Block } from './block.ts';

const KEPT_BYTES = 4 * 1024 * 1024;
const KEPT_BLOCKS = 4096;

/** The newest stretch of the journal, kept in memory once for all live consumers. */
export class Recent {
  #blocks: Block[] = [];
  #bytes = 0;
  #after: number;
  #through: number;
  readonly #keptBytes: number;

  /** Begins empty: everything up to `place` is in the journal alone. */
  constructor(place: number, keptBytes: number = KEPT_BYTES) {
    this.#after = place;
    this.#through = place;
    this.#keptBytes = keptBytes;
  }

  /** Id of the last entry that has been looked at. */
  get through(): number {
    return this.#through;
  }

  /** Forgets everything and begins again at `place`. */
  restart(place: number): void {
    this.#blocks = [];
    this.#bytes = 0;
    this.#after = place;
    this.#through = place;
  }

  append(blocks: readonly Block[], through: number): void {
    for (const block of blocks) {
      this.#blocks.push(block);
      this.#bytes += block.bytes.length;
    }
    this.#through = Math.max(this.#through, through);
    while (this.#blocks.length > 1 && (this.#bytes > this.#keptBytes || this.#blocks.length > KEPT_BLOCKS)) {
      const oldest = this.#blocks.shift()!;
      this.#bytes -= oldest.bytes.length;
      this.#after = oldest.through;
    }
  }

  /** Whether everything that follows `cursor` is either here or yet to come. */
  reaches(cursor: number): boolean {
    return cursor >= this.#after;
  }

  /** The first block with something after `cursor`; null where there is none yet. */
  next(cursor: number): Block | null {
    const newest = this.#blocks.at(-1);
    if (!newest || newest.through <= cursor) return null;
    if (newest.after <= cursor) return newest;
    let low = 0;
    let high = this.#blocks.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#blocks[middle]!.through > cursor) high = middle;
      else low = middle + 1;
    }
    return this.#blocks[low]!;
  }
}
