/** Dependencies of the changes of a transaction: what they look up, who answers, and who writes. */
import type { ResponseExpire } from '../commit.ts';
import type { ChainedRow } from '../journal-end.ts';
import type { Field, Lookup, LookupKey, StoreTable } from '../table.ts';

/** The database as it was before the transaction. */
export interface Source {
  /** The rows that the lookup finds. An engine that reads beforehand answers only what was wanted. */
  find<R extends object, S extends Field<R>>(lookup: Lookup<R, S>, key: LookupKey): readonly Pick<R, S>[];
  /** The ids of the responses that the change removes. */
  expired(change: ResponseExpire): readonly string[];
}

/**
 * Writes rows when they are made, or soon after: held until the end of the transaction, those of a large batch take a fifth longer
 * (measured).
 */
export interface RowWriter {
  /** False, and nothing is written, if another row has what is unique. */
  insert<R extends object>(table: StoreTable<R>, row: R): boolean;
  update<R extends object>(table: StoreTable<R>, before: R, after: R): void;
  entry(row: ChainedRow): void;
}

// biome-ignore lint/suspicious/noExplicitAny: lookups of all tables are in one map
export type AnyLookup = Lookup<any, any>;

/** Rows that commits will look up, for an engine that reads it in few round trips. */
export class WantedRows {
  readonly keys = new Map<AnyLookup, Set<LookupKey>>();
  readonly expiries: ResponseExpire[] = [];

  add(lookup: AnyLookup, key: LookupKey): void {
    const keys = this.keys.get(lookup);
    if (keys) keys.add(key);
    else this.keys.set(lookup, new Set([key]));
  }

  has(lookup: AnyLookup, key: LookupKey): boolean {
    return this.keys.get(lookup)?.has(key) ?? false;
  }

  /** Leaves out what is in `other`, and adds the rest to it. */
  leaveOut(other: WantedRows): void {
    for (const [lookup, keys] of this.keys)
      for (const key of keys)
        if (other.has(lookup, key)) keys.delete(key);
        else other.add(lookup, key);
    other.expiries.push(...this.expiries);
  }
}
