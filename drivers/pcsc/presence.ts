import { READER_STATE } from './transport.ts';

/** Report of a reader about its card. */
export interface CardPresence {
  /** Counts insertions and removals in this reader. An equal count means that the card was not removed. */
  readonly count: number;
  /** The card did not answer when it was powered. */
  readonly mute: boolean;
  /** Another program holds the card exclusively. */
  readonly held: boolean;
}

/** By the raw state of a reader; null if there is no card. A card that pcscd has powered down is still present. */
export function presenceOf(raw: number): CardPresence | null {
  if ((raw & READER_STATE.PRESENT) === 0) return null;
  return { count: raw >>> 16, mute: (raw & READER_STATE.MUTE) !== 0, held: (raw & READER_STATE.EXCLUSIVE) !== 0 };
}
