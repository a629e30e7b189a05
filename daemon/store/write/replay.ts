/** What entries of the journal say when they are read again, and how the rows of a table are compared with it. */
import type { EntryType } from '../../domain/journal.ts';
import type { CopiedTable } from '../copy.ts';

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
  readonly said: (entry: ReplayedEntry) => readonly unknown[];
  /** The same values of a row. */
  readonly found: (row: R) => readonly unknown[];
  readonly format: (number: number) => string;
}

/** Records whose fields never change, until they end. */
export class FixedReplay<R extends { readonly number: number; readonly name?: string }> implements Replay<number, R> {
  readonly table: CopiedTable;
  readonly fields: readonly (keyof R & string)[];
  readonly #records: FixedRecords<R>;
  readonly #said = new Map<number, { readonly fixed: string; endedAt: number | null }>();

  constructor(records: FixedRecords<R>) {
    this.#records = records;
    this.table = records.table;
    this.fields = ['number', records.endedAt, ...records.fixed];
  }

  apply(number: number, entry: ReplayedEntry): void {
    const { added, ended, said } = this.#records;
    const record = this.#said.get(number);
    if (entry.type === added) this.#said.set(number, { fixed: JSON.stringify(said(entry)), endedAt: null });
    else if (entry.type === ended && record) record.endedAt = entry.at;
  }

  compare(row: R, report: Report): void {
    const { found, endedAt, format } = this.#records;
    const said = this.#said.get(row.number);
    this.#said.delete(row.number);
    const name = row.name === undefined ? format(row.number) : `${format(row.number)} (${row.name})`;
    if (!said) report(`${name} was added without an entry`);
    else if (said.fixed !== JSON.stringify(found(row)) || said.endedAt !== row[endedAt])
      report(`${name} was changed without an entry`);
  }

  end(report: Report): void {
    for (const number of this.#said.keys()) report(`${this.#records.format(number)} was removed without an entry`);
  }
}

export const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;
