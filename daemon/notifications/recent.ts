import type { JournalBlock } from './block.ts';

const MAX_BYTES = 4 * 1024 * 1024;
const MAX_BLOCKS = 4096;

/** The newest range of the journal, in memory once for all live consumers. */
export class Recent {
  #blocks: JournalBlock[] = [];
  #bytes = 0;
  #after: number;
  #through: number;
  readonly #maxBytes: number;

  /** Starts empty: entries up to `id` are in the journal only. */
  constructor(id: number, maxBytes: number = MAX_BYTES) {
    this.#after = id;
    this.#through = id;
    this.#maxBytes = maxBytes;
  }

  /** Id of the last entry that was read. */
  get through(): number {
    return this.#through;
  }

  /** Discards everything and starts over after `id`. */
  restart(id: number): void {
    this.#blocks = [];
    this.#bytes = 0;
    this.#after = id;
    this.#through = id;
  }

  /** Adds blocks that follow the newest one; they contain every event up to `through`. Discards the oldest beyond the bounds. */
  append(blocks: readonly JournalBlock[], through: number): void {
    for (const block of blocks) {
      this.#blocks.push(block);
      this.#bytes += block.bytes.length;
    }
    this.#through = Math.max(this.#through, through);
    while (this.#blocks.length > 1 && (this.#bytes > this.#maxBytes || this.#blocks.length > MAX_BLOCKS)) {
      const oldest = this.#blocks.shift()!;
      this.#bytes -= oldest.bytes.length;
      this.#after = oldest.through;
    }
  }

  /** Whether everything after `cursor` is either here or still to come. */
  reaches(cursor: number): boolean {
    return cursor >= this.#after;
  }

  /** The first block with an event after `cursor`; null if there is none yet. */
  next(cursor: number): JournalBlock | null {
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
