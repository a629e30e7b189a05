import type { ProofGrade } from '../../../../src/contract/key-values.ts';
import type { SearchWord } from '../../../../src/contract/search-words.ts';
import { noTags, tagText, tagTexts } from '../../../../src/contract/tags.ts';
import type { Statements } from '../../../store/sqlite/statements.ts';
import { selectList } from '../../../store/table.ts';
import type { Records } from '../../../store/write/records.ts';
import { isCounted, namesTime } from '../../filters.ts';
import { gradeOf, marksOf } from '../../proof.ts';
import type { DeviceFilter, DeviceQuery, DeviceStatistics, StatisticsQuery } from '../../queries.ts';
import type { DeviceRecord } from '../../records.ts';
import { asciiLower, filterMarks, type NumberPage, proofGrade } from '../lists-sql.ts';
import { type Bits, bitsFor, combined } from './bits.ts';
import { DeviceColumns, type ListedDevice, listedFields } from './device-columns.ts';
import { addIdsWith } from './id-digits.ts';
import { IndexedSets, type ReadIndex } from './indexed-sets.ts';
import { type Matches, matching } from './matches.ts';
import { NumberSet } from './number-set.ts';
import { addDevicesWith } from './search.ts';
import { SerialOrder } from './serial-order.ts';
import { pageByText, TimeOrder } from './sorted-page.ts';
import { statisticsOf } from './statistics.ts';
import { matchingTimes } from './time-filter.ts';
import { Trigrams } from './trigrams.ts';

/** Effects of a transaction on devices. */
export type DeviceDeltas = Pick<Records<DeviceRecord>, 'added' | 'changed'>;

const encoder = new TextEncoder();

/**
 * Pages of devices from memory. It is only a cache of the database, kept up to date by `apply`: `lists-sql.ts` returns the same
 * pages. About 100 bytes a device.
 */
export class DeviceLists {
  readonly #statements: Statements;
  readonly #columns = new DeviceColumns();
  readonly #users: IndexedSets;
  /** By number of the person. */
  readonly #persons: IndexedSets;
  /** By `name:value`. */
  readonly #tags: IndexedSets;
  /** By AAGUID and advisory of the proof. */
  readonly #marks: IndexedSets;
  readonly #order: SerialOrder;
  readonly #trigrams: Trigrams;
  readonly #times = new TimeOrder();

  constructor(statements: Statements) {
    this.#statements = statements;
    this.#users = new IndexedSets(indexOf(statements, devicesOfUser), maxCached.users);
    this.#persons = new IndexedSets(indexOf(statements, devicesOfPerson), maxCached.users);
    this.#tags = new IndexedSets(indexOf(statements, devicesWithTag, nameAndValue), maxCached.tags);
    this.#marks = new IndexedSets(indexOf(statements, devicesWithMark), maxCached.marks);
    this.#order = new SerialOrder(statements, this.#columns.serials);
    this.#trigrams = new Trigrams(this.#columns.serials);
  }

  /** Reads the database. Request no pages before this has finished. Yields regularly. */
  load(): Generator<void, void> {
    return load(this.#statements, this.#columns);
  }

  /** Does the work that the first page by serial number or keyword would otherwise have to do. Yields regularly. */
  *warm(): Generator<void, void> {
    yield* this.prepare();
    yield* this.#order.upTo(this.#columns.count);
  }

  /** Adds new devices to the search by keyword. Yields regularly. */
  prepare(): Generator<void, void> {
    return this.#trigrams.upTo(this.#columns.count);
  }

  /** Number of devices that the search by keyword does not include yet. */
  get unprepared(): number {
    return this.#columns.count - this.#trigrams.last;
  }

  /** Applies what was committed. To be called right after each commit. */
  apply({ added, changed }: DeviceDeltas): void {
    const columns = this.#columns;
    for (const device of added) {
      // While loading, later devices are still to be read from the database.
      if (device.number !== columns.count + 1) continue;
      columns.add(device, gradeOf(device.proof));
      this.#index(unindexed, device);
    }
    for (const { before, after } of changed) {
      if (after.number <= columns.count) this.#set(before, after);
      this.#index(before, after);
    }
  }

  #index(before: IndexedFields, { number, userKey, person, tags, proof }: DeviceRecord): void {
    if (person !== before.person) this.#persons.change(number, person === null ? [] : [String(person)]);
    if (userKey !== before.userKey) this.#users.change(number, userKey === null ? [] : [userKey]);
    if (tags !== before.tags) this.#tags.change(number, tagTexts(tags));
    if (proof !== before.proof) this.#marks.change(number, marksOf(proof));
  }

  #set(before: DeviceRecord, after: DeviceRecord): void {
    const { number, status, proof } = after;
    if (status !== before.status) this.#columns.setStatus(number, status);
    if (proof !== before.proof) this.#columns.setGrade(number, gradeOf(proof));
    for (const name of ['activatedAt', 'lastUsedAt', 'updatedAt', 'activationCodeExpiresAt'] as const)
      if (after[name] !== before[name]) this.#columns.setTime(number, name, after[name]);
  }

  /** Counts; all of one moment if nothing is applied during the count. Yields regularly. */
  statistics(query: StatisticsQuery): Generator<void, Omit<DeviceStatistics, 'tallies'>> {
    return statisticsOf(this.#columns, query);
  }

  /** The page, if that takes only a fraction of a millisecond; else null: use `page`. */
  quickPage(query: DeviceQuery): NumberPage | null {
    if (query.keyword !== undefined || query.search !== undefined || namesTime(query) || !this.#byNumber(query))
      return null;
    const indexed = lookups(query, this.#users, this.#tags, this.#marks).map(({ sets, value }) => sets.find(value));
    if (indexed.includes(null)) return null;
    const matches = this.#matches(query, indexed as NumberSet[], []);
    if (matches === null) return { numbers: [], total: 0 };
    const total = isCounted(query) ? this.#columns.total(query) : matches.count();
    return { numbers: pageOf(matches, query, total), total };
  }

  /** The page as it was at one moment during the work. Only one at a time. Yields regularly. */
  *page(query: DeviceQuery): Generator<void, NumberPage> {
    const last = this.#columns.count;
    const also: Bits[] = [];
    if (query.keyword) also.push(yield* this.#withKeyword(query.keyword, last));
    for (const word of query.search ?? []) also.push(yield* this.#withWord(word, last));
    if (namesTime(query)) also.push(yield* matchingTimes(this.#columns, query, last));
    const wanted = lookups(query, this.#users, this.#tags, this.#marks);
    const read: NumberSet[] = [];
    for (const { sets, value } of wanted) read.push(sets.find(value) ?? (yield* sets.read(value)));
    if (query.sortBy === 'serialNumber') yield* this.#order.upTo(last);
    // A small set is as it was when it was read: all are taken again at one moment.
    const indexed = wanted.map(({ sets, value }, i) => sets.find(value) ?? read[i]!);
    const matches = this.#matches(query, indexed, also, last);
    if (matches === null) return { numbers: [], total: 0 };
    const total = matches.count();
    return { numbers: yield* this.#sorted(matches, query, total), total };
  }

  *#sorted(matches: Matches, query: DeviceQuery, total: number): Generator<void, readonly number[]> {
    if (query.offset >= total) return [];
    if (this.#byNumber(query)) return pageOf(matches, query, total);
    const columns = this.#columns;
    const bits = matches.toBits();
    switch (query.sortBy) {
      case 'serialNumber':
        return yield* this.#order.page(bits, query);
      case 'deviceType':
      case 'status':
      case 'manufacturer':
      case 'model':
        return yield* pageByText(columns.texts[query.sortBy], bits, query);
      case 'activatedAt':
      case 'lastUsedAt':
      case 'updatedAt':
        return yield* this.#times.page(columns.times[query.sortBy], bits, query);
      default:
        return yield* this.#times.page(columns.times.createdAt, bits, query);
    }
  }

  /** Whether the requested order is that of the numbers. */
  #byNumber({ sortBy }: DeviceQuery): boolean {
    if (sortBy === 'createTime' || sortBy === 'createdAt') return !this.#columns.clockSteppedBack;
    return sortBy === 'deviceId';
  }

  /** The devices up to `last` that match the filter and are in each of `indexed` and `also`; null if nothing can match. */
  #matches(
    filter: DeviceFilter,
    indexed: readonly NumberSet[],
    also: readonly Bits[],
    last = this.#columns.count,
  ): Matches | null {
    const sets = this.#columns.sets(filter);
    if (!sets) return null;
    sets.push(...indexed);
    if (filter.serialNumber !== undefined) sets.push(this.#withSerial(filter.serialNumber));
    return matching(last, sets, combined([...also, ...this.#columns.unions(filter, last)]));
  }

  #withSerial(serial: string): NumberSet {
    const number = this.#statements.value<number>('SELECT number FROM device WHERE serial_number = ?', serial);
    return NumberSet.of(number === undefined ? [] : [number]);
  }

  *#withWord(word: SearchWord, last: number): Generator<void, Bits> {
    const { texts } = this.#columns;
    const bits = word.in.includes('id') ? yield* this.#withKeyword(word.text, last) : bitsFor(last);
    if (word.in.includes('maker')) texts.manufacturer.addWith(word.text, bits);
    if (word.in.includes('model')) texts.model.addWith(word.text, bits);
    const sets = { user: this.#users, name: this.#persons, tag: this.#tags };
    yield* addDevicesWith(word, this.#statements, sets, { bits, last });
    // Later devices are in the sets too.
    bits[last >>> 5]! &= -1 >>> (31 - (last & 31));
    return bits;
  }

  *#withKeyword(keyword: string, last: number): Generator<void, Bits> {
    const lower = asciiLower(keyword);
    yield* this.#trigrams.upTo(last);
    const bits = yield* this.#trigrams.find(encoder.encode(lower), last);
    addIdsWith(bits, lower, last);
    return bits;
  }
}

const chunk = 1000;
const sql = `SELECT ${selectList(listedFields)}, ${proofGrade} AS grade FROM device WHERE number > ? ORDER BY number LIMIT ${chunk}`;

/** Adds the devices that are in the database but not yet in the columns. Yields regularly. */
function* load(statements: Statements, columns: DeviceColumns): Generator<void, void> {
  columns.reserve(statements.value<number | null>('SELECT max(number) FROM device') ?? 0);
  for (;;) {
    const rows = statements.all<ListedDevice & { readonly grade: ProofGrade }>(sql, columns.count);
    for (const row of rows) columns.add(row, row.grade);
    if (rows.length < chunk) return;
    yield;
  }
}

type IndexedFields = Pick<DeviceRecord, 'userKey' | 'person' | 'tags' | 'proof'>;
const unindexed: IndexedFields = { userKey: null, person: null, tags: noTags, proof: null };

/** Values whose devices are cached: a set of many devices takes a bit for each device of the registry. */
const maxCached = { users: 500, tags: 200, marks: 100 };

/** Reads an index with a statement, which takes the parts of the value, then `after` and `limit`. */
const indexOf =
  (statements: Statements, statement: string, partsOf = (value: string) => [value]): ReadIndex =>
  (value, after, limit) =>
    statements.values<number>(statement, ...partsOf(value), after, limit);
const devicesOfUser = 'SELECT number FROM device WHERE user_key = ? AND number > ? ORDER BY number LIMIT ?';
const devicesOfPerson =
  'SELECT number FROM device WHERE person = CAST(? AS INTEGER) AND number > ? ORDER BY number LIMIT ?';
const devicesWithMark = 'SELECT device FROM device_mark WHERE mark = ? AND device > ? ORDER BY device LIMIT ?';
const devicesWithTag =
  'SELECT device FROM device_tag WHERE name = ? AND value = ? AND device > ? ORDER BY device LIMIT ?';

/** The name and the value of a tag in such a text: names have no colon. */
function nameAndValue(text: string): [string, string] {
  const colon = text.indexOf(':');
  return [text.slice(0, colon), text.slice(colon + 1)];
}

/** The values of a query that an index has, each with the sets to look it up in. */
const lookups = (filter: DeviceFilter, users: IndexedSets, tagged: IndexedSets, marked: IndexedSets) => [
  ...(filter.userId === undefined ? [] : [{ sets: users, value: filter.userId }]),
  ...filterMarks(filter).map(mark => ({ sets: marked, value: mark })),
  ...(filter.tags ?? []).map(tag => ({ sets: tagged, value: tagText(tag) })),
];

/** A page in the order of numbers, collected from the nearer end. */
function pageOf(matches: Matches, { offset, limit, descending }: DeviceQuery, total: number): readonly number[] {
  const size = Math.min(limit, total - offset);
  if (size <= 0) return [];
  if (offset <= total / 2) return matches.page(offset, size, descending);
  return matches.page(total - offset - size, size, !descending).reverse();
}
