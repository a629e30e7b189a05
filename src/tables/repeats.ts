/** Rows that repeat an earlier one. Their keys are stored as hashes: a million of them take 32 MiB. */
import type { Position } from './raw.ts';

/** Rows of one file that are remembered. Of a longer one, the registry refuses what is there twice. */
const MOST = 2 ** 21;
/** Numbers of a row: two halves of the hash of its key, its place, and the hash of its content. */
const WIDTH = 4;

/** An earlier row with the key of a row. */
interface EarlierRow {
  /** For `positionText`: of an item, the line is that of the later row. */
  readonly position: Position;
  /** The two rows have the same content. */
  readonly isSame: boolean;
}

/** Remembers the rows of a file by what they name. */
export class Repeats {
  #slots = new Int32Array(WIDTH * 2 ** 10);
  #count = 0;

  /** The earlier row with this key; null if there is none, and this one is remembered. `content`: what else the row has. */
  earlier(key: string, { line, item }: Position, content: readonly string[] = []): EarlierRow | null {
    if (this.#count < MOST && this.#count * 2 * WIDTH >= this.#slots.length) this.#grow();
    // No row has the hash 0, which marks a slot as free.
    const [high, low] = [hashOf(key, 0x811c9dc5) || 1, hashOf(key, 0x1b873593)];
    const rest = content.reduce((hash, text) => hashOf(text, hash), 1);
    const slots = this.#slots;
    const at = this.#slotOf(high, low);
    if (slots[at] !== 0) {
      const place = slots[at + 2]!;
      const position = item === undefined ? { line: place } : { line, item: place };
      return { position, isSame: slots[at + 3] === rest };
    }
    if (this.#count >= MOST) return null;
    slots.set([high, low, item ?? line, rest], at);
    this.#count++;
    return null;
  }

  #slotOf(high: number, low: number): number {
    const slots = this.#slots;
    const last = slots.length / WIDTH - 1;
    let slot = (high ^ low) & last;
    while (slots[slot * WIDTH] !== 0 && (slots[slot * WIDTH] !== high || slots[slot * WIDTH + 1] !== low))
      slot = (slot + 1) & last;
    return slot * WIDTH;
  }

  #grow(): void {
    const earlier = this.#slots;
    this.#slots = new Int32Array(earlier.length * 2);
    for (let at = 0; at < earlier.length; at += WIDTH)
      if (earlier[at] !== 0)
        this.#slots.set(earlier.subarray(at, at + WIDTH), this.#slotOf(earlier[at]!, earlier[at + 1]!));
  }
}

/** A hash of 32 bits; two of them with other seeds are the same for two of a million keys once in 10 million files. */
function hashOf(text: string, seed: number): number {
  let hash = seed;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x5bd1e995);
    hash ^= hash >>> 15;
  }
  return hash | 0;
}
