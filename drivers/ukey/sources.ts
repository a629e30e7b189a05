/** The table of protocols a serial can be read by, in the order in which they are tried, each behind its USB ids. */
import type { KeyView } from './identify.ts';

export interface Answer {
  /** As the key gives it; null where it says it has none. */
  readonly serial: string | null;
  readonly firmwareVersion: string | null;
  /** True where a key without a serial has said so for certain, and no other source will know better. */
  readonly final: boolean;
}

export interface Source {
  /** The name that stands in `serialSource`. */
  readonly name: string;
  /** Asks the key; fails with a HardwareError. `limit` is in milliseconds. */
  read(key: KeyView, signal: AbortSignal, limit: number): Promise<Answer>;
}

const SOURCES: readonly (Source & { applies(vendorId: string, productId: string): boolean })[] = [];

export function sourcesFor(vendorId: string, productId: string): readonly Source[] {
  return SOURCES.filter(source => source.applies(vendorId, productId));
}
