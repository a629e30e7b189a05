/** Reads, additions and changes of a group of commits, in memory, until it is written. */
import type { Entry } from '../journal.ts';
import type { ChainedRow, EntryContext, JournalEnd, StoredHead } from '../journal-end.ts';
import type { StoreTable } from '../table.ts';
import { Records } from './records.ts';
import type { RowWriter, Source } from './source.ts';

/** A part of a transaction beside records. */
export interface Part {
  /** Whether there is nothing to write. */
  readonly isEmpty: boolean;
  /** The table whose rows it writes; absent if none is looked up again and again. */
  readonly table?: unknown;
}

/** The last number of each table, by name. */
export type LastNumbers = Readonly<Record<string, number>>;

/** The state that a draft starts from. */
interface Start {
  readonly source: Source;
  readonly last: LastNumbers;
  /** Continues at the end of the stored journal. */
  readonly end: JournalEnd;
  /** The time of the last commit, below which no time is accepted; null if times are taken as they are. */
  readonly at: number | null;
  /** Absent if the engine writes the records and entries of the draft at its end. */
  readonly writer?: RowWriter | null;
}

type NumberedRecord = { readonly number: number };

interface DraftAdded<R> {
  /** The record that was added, or the one that has what is unique. */
  readonly record: R;
  readonly isNew: boolean;
}

export class Draft {
  /** The entries; empty if they are written when they are made. */
  readonly events: ChainedRow[] = [];
  readonly #writer: RowWriter | null;
  #hasEntries = false;
  readonly #source: Source;
  readonly #end: JournalEnd;
  readonly #last: Record<string, number>;
  readonly #isAscending: boolean;
  #at: number;
  // biome-ignore lint/suspicious/noExplicitAny: records of all tables are in one map
  readonly #records = new Map<StoreTable<any>, Records<any>>();
  readonly #parts = new Map<unknown, Part>();

  constructor({ source, last, end, at, writer = null }: Start) {
    this.#source = source;
    this.#last = { ...last };
    this.#end = end;
    this.#isAscending = at !== null;
    this.#at = at ?? 0;
    this.#writer = writer;
  }

  /** The records of a table. */
  of<R extends NumberedRecord>(table: StoreTable<R>): Records<R> {
    const known = this.#records.get(table);
    if (known) return known;
    const records = new Records(table, this.#source, this.#writer);
    this.#records.set(table, records);
    return records;
  }

  /** The part of this kind beside records; made at the first call. */
  part<P extends Part>(kind: new (source: Source) => P): P {
    const known = this.#parts.get(kind) as P | undefined;
    if (known) return known;
    const part = new kind(this.#source);
    this.#parts.set(kind, part);
    return part;
  }

  /** A part, if one of the commits has asked for it. */
  made<P extends Part>(kind: new (source: Source) => P): P | undefined {
    return this.#parts.get(kind) as P | undefined;
  }

  /** The time of a commit. */
  timeOf(at: number): number {
    this.#at = Math.max(this.#at, at);
    return this.#isAscending ? this.#at : at;
  }

  /** The latest time of its commits. */
  get at(): number {
    return this.#at;
  }

  /** Adds the record that `make` makes of the next number. If another one has what is unique, returns that one instead. */
  add<R extends NumberedRecord>(table: StoreTable<R>, make: (number: number) => R): DraftAdded<R> {
    const number = this.#last[table.name]! + 1;
    const record = make(number);
    const existing = this.of(table).add(record);
    if (!existing) this.#last[table.name] = number;
    return { record: existing ?? record, isNew: !existing };
  }

  get last(): LastNumbers {
    return this.#last;
  }

  enter(context: EntryContext, entry: Entry, device: number | null, subject: number | null): void {
    this.#write(this.#end.append(context, entry, device, subject));
  }

  rotate(context: EntryContext, entry: Entry, key: Uint8Array): void {
    const row = this.#end.rotate(context, entry, key);
    if (row) this.#write(row);
  }

  #write(row: ChainedRow): void {
    this.#hasEntries = true;
    if (this.#writer) this.#writer.entry(row);
    else this.events.push(row);
  }

  /** Whether it has made an entry. */
  get hasEntries(): boolean {
    return this.#hasEntries;
  }

  /** The end of the journal after it, sealed. */
  seal(): StoredHead {
    return this.#end.seal();
  }

  /** Whether there is nothing to write. */
  get isEmpty(): boolean {
    if (this.#hasEntries) return false;
    for (const records of this.#records.values()) if (!records.isUntouched) return false;
    for (const part of this.#parts.values()) if (!part.isEmpty) return false;
    return true;
  }

  /** Whether it writes rows of the table. */
  touches(table: unknown): boolean {
    if (this.#records.get(table as StoreTable<never>)?.isUntouched === false) return true;
    for (const part of this.#parts.values()) if (part.table === table && !part.isEmpty) return true;
    return false;
  }

  /** Id of the last entry, its own included. */
  get lastEventId(): number {
    return this.#end.id;
  }
}
