/** Rows that are replaced as a whole, and those of documents: their changes, guards and entries. */

import { Conflict } from '../commit.ts';
import { documentDigest } from '../digest.ts';
import type { DocumentGuard, DocumentRecord, DocumentSet } from '../document.ts';
import type { Field, Lookup, StoreTable } from '../table.ts';
import { documentVersion } from '../tables.ts';
import type { Part } from './draft.ts';
import { digestIn, RowReplay } from './replay.ts';
import { type ChangeRule, type ChangeRules, done, type GuardRules } from './rule.ts';
import type { Source } from './source.ts';

/** Rows that a transaction replaces as a whole. `S`: what is read of a row. */
// biome-ignore lint/suspicious/noExplicitAny: engines write rows of all kinds alike
export abstract class ReplacedRows<K extends string | number = any, R extends object = any, S extends Field<R> = any>
  implements Part
{
  /** By key; null if it is removed. */
  readonly changed = new Map<K, R | null>();
  readonly #source: Source;
  protected abstract readonly lookup: Lookup<R, S>;

  constructor(source: Source) {
    this.#source = source;
  }

  /** The row, as the transaction leaves it; undefined or null if there is none. */
  row(key: K): Pick<R, S> | null | undefined {
    const changed = this.changed.get(key);
    return changed === undefined ? this.#source.find(this.lookup, key)[0] : changed;
  }

  get table(): StoreTable<R> {
    return this.lookup.table;
  }

  get isEmpty(): boolean {
    return this.changed.size === 0;
  }
}

/** A table of such rows: engines write them alike. */
export type ReplacedKind = new (source: Source) => ReplacedRows;

/** Rows with a version, which starts at 1 and rises by 1 with each change. */
export abstract class Versions<K extends string | number, R extends { readonly version: number }> extends ReplacedRows<
  K,
  R,
  'version' & Field<R>
> {
  /** The version of a row; 0 if there is no row. */
  version(key: K): number {
    return this.row(key)?.version ?? 0;
  }
}

/** The part of a rule that refuses a change of a row whose version is no longer the one that the change is based on. */
export const sinceVersion = <
  K extends string | number,
  R extends { readonly version: number },
  C extends { readonly before: number },
>(
  Kind: new (source: Source) => Versions<K, R>,
  lookup: Lookup<R, 'version' & Field<R>>,
  keyOf: (change: C) => K,
  refusal: (key: K) => string,
): Pick<ChangeRule<C>, 'needs' | 'check'> => ({
  needs: (change, wanted) => wanted.add(lookup, keyOf(change)),
  check(draft, change) {
    const key = keyOf(change);
    if (draft.part(Kind).version(key) !== change.before) throw new Conflict(refusal(key));
  },
});

/** The documents that a transaction replaces. */
export class Documents extends Versions<string, DocumentRecord> {
  protected readonly lookup = documentVersion;
}

const otherVersion = (name: string) => `the document ${name} has another version now`;

export const documentChanges: ChangeRules<DocumentSet['kind']> = {
  'document.set': {
    ...sinceVersion(Documents, documentVersion, ({ name }: DocumentSet) => name, otherVersion),
    apply(draft, { name, before, value, entry }, context) {
      draft.part(Documents).changed.set(name, { name, version: before + 1, value });
      draft.enter(context, entry, null, null);
      return done;
    },
  },
};

export const documentGuards: GuardRules<DocumentGuard['kind']> = {
  document: {
    needs: ({ name }, wanted) => wanted.add(documentVersion, name),
    broken: (draft, { name, version }) => (draft.part(Documents).version(name) === version ? null : otherVersion(name)),
  },
};

type ComparedDocument = Pick<DocumentRecord, 'name' | 'value'>;

/** The documents as the journal records that they are. */
export const documentReplay = () =>
  new RowReplay<string, ComparedDocument, string>({
    table: 'document',
    fields: ['name', 'value'],
    key: ({ name }) => name,
    said: digestIn('documentDigest'),
    found: ({ value }) => documentDigest(value),
    nameOf: name => `the document ${name}`,
  });
