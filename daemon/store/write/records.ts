import { keyOf, type Lookup, type LookupKey, type StoreTable, uniqueKey } from '../table.ts';
import type { RowWriter, Source } from './source.ts';

/** A record before and after a transaction. */
export interface RecordChange<R> {
  readonly before: R;
  readonly after: R;
}

/** The records of a table as a transaction sees them: those of the database, with what was added and changed. */
export class Records<R extends { readonly number: number }> {
  readonly table: StoreTable<R>;
  readonly #source: Source;
  readonly #writer: RowWriter | null;
  /** By number; those that were added are in `added` alone. */
  readonly #present = new Map<number, R>();
  readonly #before = new Map<number, R>();
  /** Numbers by what is unique; null if it has become free. Empty with a writer: then the source knows what was written. */
  readonly #keys = new Map<LookupKey, number | null>();
  readonly #added: R[] = [];
  /** Numbers of the records that lookups have found in the database. */
  readonly #found = new Map<Lookup<R>, Map<LookupKey, readonly number[]>>();

  constructor(table: StoreTable<R>, source: Source, writer: RowWriter | null) {
    this.table = table;
    this.#source = source;
    this.#writer = writer;
  }

  get(number: number): R | undefined {
    return this.#known(number) ?? this.#load(this.#find(this.table.byKey, number)[0]);
  }

  /** The record that has what is unique. */
  withKey(key: LookupKey): R | undefined {
    const number = this.#keys.get(key);
    if (number !== undefined) return number === null ? undefined : this.#known(number);
    return this.#load(this.#find(this.table.unique, key)[0]);
  }

  /** The records that the lookup finds, by number: those of the database, and those that the transaction has made so. */
  all(lookup: Lookup<R>, key: LookupKey): readonly R[] {
    const records = new Set(this.#added);
    for (const number of this.#numbers(lookup, key)) records.add(this.#known(number)!);
    for (const number of this.#before.keys()) records.add(this.#known(number)!);
    return [...records].filter(record => keyOf(lookup, record) === key).sort((a, b) => a.number - b.number);
  }

  /** Each row of the database is looked up once: a batch of 10,000 may look up one name as often. */
  #numbers(lookup: Lookup<R>, key: LookupKey): readonly number[] {
    const known = this.#found.get(lookup) ?? new Map<LookupKey, readonly number[]>();
    this.#found.set(lookup, known);
    const numbers = known.get(key) ?? this.#find(lookup, key).map(record => this.#load(record)!.number);
    known.set(key, numbers);
    return numbers;
  }

  /** Adds a record, whose number follows that of the last one. If another one has what is unique, returns that one instead. */
  add(record: R): R | undefined {
    const existing = this.#writer ? this.#unlessWritten(this.#writer, record) : this.#sameAs(record);
    if (existing) return existing;
    this.#added.push(record);
    this.#index(record);
    return undefined;
  }

  change(record: R): void {
    const before = this.#known(record.number)!;
    if (this.#writer) this.#writer.update(this.table, before, record);
    else this.#free(before);
    const first = this.#added[0]?.number ?? Number.POSITIVE_INFINITY;
    if (record.number >= first) this.#added[record.number - first] = record;
    else {
      if (!this.#before.has(record.number)) this.#before.set(record.number, before);
      this.#present.set(record.number, record);
    }
    this.#index(record);
  }

  /** As they are now. */
  get added(): readonly R[] {
    return this.#added;
  }

  get changed(): readonly RecordChange<R>[] {
    return Array.from(this.#before, ([number, before]) => ({ before, after: this.#present.get(number)! }));
  }

  get isUntouched(): boolean {
    return this.#added.length === 0 && this.#before.size === 0;
  }

  #find(lookup: Lookup<R>, key: LookupKey): readonly R[] {
    return this.#source.find(lookup, key) as readonly R[];
  }

  #known(number: number): R | undefined {
    const first = this.#added[0]?.number ?? Number.POSITIVE_INFINITY;
    return number >= first ? this.#added[number - first] : this.#present.get(number);
  }

  #load(record: R | undefined): R | undefined {
    if (record === undefined) return undefined;
    const known = this.#known(record.number);
    if (known) return known;
    this.#present.set(record.number, record);
    this.#index(record);
    return record;
  }

  /** Looks up no key before the row is written: that would take 3 µs of a registration (measured). */
  #unlessWritten(writer: RowWriter, record: R): R | undefined {
    if (writer.insert(this.table, record)) return undefined;
    const existing = this.#sameAs(record);
    if (!existing)
      throw new Error(`a row of the table ${this.table.name} has the number ${record.number}, or a value of it`);
    return existing;
  }

  #sameAs(record: R): R | undefined {
    const key = uniqueKey(this.table, record);
    return key === null ? undefined : this.withKey(key);
  }

  #free(record: R): void {
    const key = uniqueKey(this.table, record);
    if (key !== null) this.#keys.set(key, null);
  }

  #index(record: R): void {
    if (this.#writer) return;
    const key = uniqueKey(this.table, record);
    if (key !== null) this.#keys.set(key, record.number);
  }
}
