import { personKey } from '../../../../src/contract/person-key.ts';
import type { Bits } from './bits.ts';
import { NumberSet } from './number-set.ts';

/** The values of a field that many devices share: each has a number and the set of devices with that value. */
export class TextSets {
  readonly sets: NumberSet[] = [];
  readonly #texts: string[] = [];
  /** The texts as searches compare them. */
  readonly #keys: string[] = [];
  readonly #ids = new Map<string, number>();
  #order: number[] | null = null;

  constructor(known: readonly string[] = []) {
    for (const text of known) this.id(text);
  }

  /** Number of the text, from 0 without gaps; a new text gets the next one. */
  id(text: string): number {
    const found = this.#ids.get(text);
    if (found !== undefined) return found;
    const id = this.#texts.push(text) - 1;
    this.#keys.push(personKey(text));
    this.#ids.set(text, id);
    this.sets.push(new NumberSet());
    this.#order = null;
    return id;
  }

  /** Number of the text; undefined if no device ever had it. */
  find(text: string): number | undefined {
    return this.#ids.get(text);
  }

  /** Adds the devices whose text contains `part`, in lower case. */
  addWith(part: string, bits: Bits): void {
    for (const [id, key] of this.#keys.entries()) if (key.includes(part)) this.sets[id]!.addTo(bits);
  }

  /** The text with this number. */
  text(id: number): string {
    return this.#texts[id]!;
  }

  /** The numbers of the texts, sorted by the texts' code points: by their bytes in UTF-8. */
  get order(): readonly number[] {
    this.#order ??= this.#texts
      .map((text, id) => ({ id, bytes: Buffer.from(text) }))
      .sort((a, b) => Buffer.compare(a.bytes, b.bytes))
      .map(({ id }) => id);
    return this.#order;
  }
}
