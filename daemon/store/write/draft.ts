/** What a group of commits reads, adds and changes, in memory, until it is written. */
import type { DeviceStatus, DeviceType } from '../../../src/contract/values.ts';
import type { DeviceRecord } from '../../domain/device.ts';
import type { Entry } from '../../domain/journal.ts';
import type { ChainedRow, EntryContext, JournalEnd, StoredHead } from '../journal-end.ts';
import type { Tally } from '../queries.ts';
import type { CommitNotice } from '../store.ts';
import type { StoreTable } from '../table.ts';
import { devices, serviceTokens, users } from '../tables.ts';
import { Records } from './records.ts';
import type { RowWriter, Source } from './source.ts';
import { Tallies } from './tallies.ts';

/** A number of devices of a kind. */
interface DeviceCount {
  readonly manufacturer: string;
  readonly deviceType: DeviceType;
  readonly status: DeviceStatus;
  by: number;
}

/** What a transaction does beside records. */
export interface Part {
  /** Whether there is nothing to write. */
  readonly isEmpty: boolean;
}

/** The last number of each table, by name. */
export type LastNumbers = Readonly<Record<string, number>>;

/** What a draft starts from. */
interface DraftStart {
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
  #everything = false;
  /** Absent if the engine itself tallies what is written. */
  readonly #tallies: Tallies | null;
  readonly #source: Source;
  readonly #end: JournalEnd;
  readonly #last: Record<string, number>;
  readonly #isAscending: boolean;
  #at: number;
  // biome-ignore lint/suspicious/noExplicitAny: records of all tables are in one map
  readonly #records = new Map<StoreTable<any>, Records<any>>();
  readonly #parts = new Map<unknown, Part>();
  readonly #counts = new Map<string, DeviceCount>();

  constructor({ source, last, end, at, writer = null }: DraftStart) {
    this.#source = source;
    this.#last = { ...last };
    this.#end = end;
    this.#isAscending = at !== null;
    this.#at = at ?? 0;
    this.#writer = writer;
    this.#tallies = writer && new Tallies();
  }

  /** The records of a table. */
  of<R extends NumberedRecord>(table: StoreTable<R>): Records<R> {
    const known = this.#records.get(table);
    if (known) return known;
    const records = new Records(table, this.#source, this.#writer);
    this.#records.set(table, records);
    return records;
  }

  /** What it does beside records; made at the first call. */
  part<P extends Part>(kind: new (source: Source) => P): P {
    const known = this.#parts.get(kind) as P | undefined;
    if (known) return known;
    const part = new kind(this.#source);
    this.#parts.set(kind, part);
    return part;
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
    this.#tallies?.enter(row);
    if (this.#writer) this.#writer.entry(row);
    else this.events.push(row);
  }

  /** Whether it has made an entry. */
  get hasEntries(): boolean {
    return this.#hasEntries;
  }

  count({ manufacturer, deviceType, status }: DeviceRecord, by: 1 | -1): void {
    const key = `${deviceType} ${status} ${manufacturer}`;
    const count = this.#counts.get(key);
    if (count) count.by += by;
    else this.#counts.set(key, { manufacturer, deviceType, status, by });
  }

  /** By how much the numbers of devices change. */
  get counts(): readonly DeviceCount[] {
    return [...this.#counts.values()].filter(({ by }) => by !== 0);
  }

  /** By how much the tallies change. Called once; empty if the engine itself tallies what is written. */
  takeTallies(): readonly Tally[] {
    if (!this.#tallies) return [];
    const { added, changed } = this.of(devices);
    for (const device of added) this.#tallies.added(device);
    for (const change of changed) this.#tallies.changed(change);
    return this.#tallies.all;
  }

  /** The end of the journal after it, sealed. */
  seal(): StoredHead {
    return this.#end.seal();
  }

  /** Any user may have lost the right to a request: listeners forget what they know of users and tokens. */
  concernsEveryone(): void {
    this.#everything = true;
  }

  /** Whether there is nothing to write. */
  get isEmpty(): boolean {
    if (this.#hasEntries) return false;
    for (const records of this.#records.values()) if (!records.isUntouched) return false;
    for (const part of this.#parts.values()) if (!part.isEmpty) return false;
    return true;
  }

  /** What listeners learn. */
  get notice(): CommitNotice {
    const [changedUsers, changedTokens] = [this.of(users), this.of(serviceTokens)];
    const ended = changedTokens.changed.filter(
      ({ before, after }) => before.revokedAt !== after.revokedAt || before.owner !== after.owner,
    );
    return {
      lastEventId: this.#end.id,
      users: numbersOf([...changedUsers.added, ...changedUsers.changed.map(({ after }) => after)]),
      serviceTokens: numbersOf([...changedTokens.added, ...ended.map(({ after }) => after)]),
      ...(this.#everything ? { everything: true } : {}),
    };
  }

  /** Number of devices that were added. */
  get addedDevices(): number {
    return this.of(devices).added.length;
  }
}

const numbersOf = (records: readonly NumberedRecord[]) => records.map(({ number }) => number);
