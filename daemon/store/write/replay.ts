/** The facts that entries of the journal record, and how the rows of a table are compared with it. */

import type { CopiedTable, StoredRows } from '../copy.ts';
import type { EntryType } from '../journal.ts';

export type Fields = Readonly<Record<string, unknown>>;
export type Report = (text: string) => void;

/** An entry about a record. */
export interface ReplayedEntry {
  readonly type: EntryType;
  readonly at: number;
  readonly actor: string | null;
  readonly data: Fields;
  readonly detail: Fields;
}

/** The rows of a table as the journal records that they are. */
export interface Replay<K, R> {
  readonly table: CopiedTable;
  /** The fields that `compare` looks at. */
  readonly fields: readonly (keyof R & string)[];
  /** Takes the entries in their order. */
  apply(key: K, entry: ReplayedEntry): void;
  /** Compares a row as engines exchange it (see `CopiedRow`) with the entries. Rows come by ascending key. */
  compare(row: R, report: Report): void;
  /** Reports the rows that the table lacks. */
  end(report: Report): void;
  /** Facts that entries of an earlier version do not prove, after `end`; empty if nothing. */
  readonly notCovered?: string;
}

/** Compares what a table has of the rows of another one, whose rows the journal proves. */
export interface RowComparison<R> {
  readonly table: CopiedTable;
  compare(stored: StoredRows, rows: readonly R[], report: Report): Promise<void>;
}

/** How often something is not covered, in words. */
export const counted = (count: number, one: string, many: string, owner: string, owners: string): string =>
  count === 0 ? '' : count === 1 ? `the ${one} of 1 ${owner}` : `the ${many} of ${count} ${owners}`;

/** How a row follows from its entries. `S`: what they record of it, as JSON. */
interface RecordedRow<K, R, S> extends Pick<Replay<K, R>, 'table' | 'fields'> {
  readonly key: (row: R) => K;
  /** The value that the entries up to this one record; undefined if they record nothing. */
  readonly said: (entry: ReplayedEntry, before: S | undefined) => S | undefined;
  /** The facts of a row that the entries record. */
  readonly found: (row: R) => S;
  /** `row`: absent if the table lacks it. */
  readonly nameOf: (key: K, row?: R) => string;
}

/** Rows that are equal to what their entries record, or were changed without an entry. */
export class RowReplay<K, R, S> implements Replay<K, R> {
  readonly table: CopiedTable;
  readonly fields: readonly (keyof R & string)[];
  protected readonly said = new Map<K, S>();
  readonly #recorded: RecordedRow<K, R, S>;

  constructor(recorded: RecordedRow<K, R, S>) {
    this.#recorded = recorded;
    this.table = recorded.table;
    this.fields = recorded.fields;
  }

  apply(key: K, entry: ReplayedEntry): void {
    const said = this.#recorded.said(entry, this.said.get(key));
    if (said !== undefined) this.said.set(key, said);
  }

  compare(row: R, report: Report): void {
    const { key: keyOf, found, nameOf } = this.#recorded;
    const key = keyOf(row);
    const said = this.said.get(key);
    this.said.delete(key);
    if (said === undefined) report(`${nameOf(key, row)} was added without an entry`);
    else if (JSON.stringify(said) !== JSON.stringify(found(row)))
      report(`${nameOf(key, row)} was changed without an entry`);
  }

  end(report: Report): void {
    for (const key of this.said.keys()) report(`${this.#recorded.nameOf(key)} was removed without an entry`);
  }
}

/** How records whose fields never change, until they end, follow from their entries. */
interface FixedRecords<R> {
  readonly table: CopiedTable;
  readonly added: EntryType;
  readonly ended: EntryType;
  /** The field with the time of the end. */
  readonly endedAt: keyof R & string;
  readonly fixed: readonly (keyof R & string)[];
  /** The values of `fixed`, as the entry has them. */
  readonly said: (entry: ReplayedEntry) => { readonly [F in keyof R]?: unknown };
  /** The values of a row that entries write in another way. */
  readonly written?: (row: R) => { readonly [F in keyof R]?: unknown };
  readonly format: (number: number) => string;
  /** The one of `fixed` that entries of this type replace. */
  readonly moved?: { readonly type: EntryType; readonly field: keyof R & string };
}

/** Records whose fields never change, until they end. */
export const fixedReplay = <R extends { readonly number: number; readonly name?: string }>({
  table,
  added,
  ended,
  endedAt,
  fixed,
  said,
  written,
  format,
  moved,
}: FixedRecords<R>) =>
  new RowReplay<number, R, { readonly fixed: readonly unknown[]; readonly endedAt: unknown }>({
    table,
    fields: ['number', endedAt, ...fixed],
    key: ({ number }) => number,
    said(entry, before) {
      if (entry.type === added) return { fixed: valuesOf(fixed, said(entry)), endedAt: null };
      if (entry.type === moved?.type && before) {
        const value = entry.detail[moved.field];
        return { ...before, fixed: before.fixed.map((old, i) => (fixed[i] === moved.field ? value : old)) };
      }
      return entry.type === ended && before ? { ...before, endedAt: entry.at } : before;
    },
    found: row => ({ fixed: valuesOf(fixed, { ...row, ...written?.(row) }), endedAt: row[endedAt] }),
    nameOf: (number, row) => (row?.name === undefined ? format(number) : `${format(number)} (${row.name})`),
  });

const valuesOf = <F extends string>(
  fields: readonly F[],
  values: { readonly [K in F]?: unknown },
): readonly unknown[] => fields.map(field => values[field]);

/** The digest that an entry has in this field. */
export const digestIn =
  (field: string) =>
  ({ detail }: ReplayedEntry): string | undefined =>
    typeof detail[field] === 'string' ? detail[field] : undefined;
