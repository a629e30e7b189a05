import type { ReaderStatusFlags } from 'pcsc-mini';
import type { Pcsc } from './library.ts';

/** What a reader tells of the card in it. */
export interface Presence {
  /** Counts insertions and removals in this reader: two equal counts mean the card stayed where it was. */
  readonly count: number;
  /** The card is there and gave no sign of life when it was powered. */
  readonly mute: boolean;
  /** Another program has the card for itself. */
  readonly taken: boolean;
}

/** Null: no card. A card that is powered down (pcscd does so after some seconds) is still there. */
export function presenceOf(pcsc: Pcsc, status: ReaderStatusFlags): Presence | null {
  const { PRESENT, MUTE, EXCLUSIVE } = pcsc.ReaderStatus;
  if (!status.has(PRESENT)) return null;
  return { count: status.raw >>> 16, mute: status.has(MUTE), taken: status.has(EXCLUSIVE) };
}
