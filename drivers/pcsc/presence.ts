import type { ReaderStatusFlags } from 'pcsc-mini';
import type { Pcsc } from './library.ts';

/** What a reader reports about the card in it. */
export interface CardPresence {
  /** Counts insertions and removals in this reader. An equal count means that the card was not removed. */
  readonly count: number;
  /** The card did not answer when it was powered. */
  readonly mute: boolean;
  /** Another program holds the card exclusively. */
  readonly held: boolean;
}

/** Null if there is no card. A card that is powered down (pcscd does so after some seconds) is still present. */
export function presenceOf(pcsc: Pcsc, status: ReaderStatusFlags): CardPresence | null {
  const { PRESENT, MUTE, EXCLUSIVE } = pcsc.ReaderStatus;
  if (!status.has(PRESENT)) return null;
  return { count: status.raw >>> 16, mute: status.has(MUTE), held: status.has(EXCLUSIVE) };
}
