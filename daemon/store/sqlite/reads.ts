import { TimeSlice } from '../../concurrency.ts';
import { eventFilters } from '../../devices/filters.ts';
import { fieldTerm } from '../../devices/sqlite/lists-sql.ts';
import type { CredentialRecord } from '../../domain/credential.ts';
import type { EventRecord } from '../../domain/journal.ts';
import type { PersonRecord } from '../../domain/person.ts';
import type { LatestProof } from '../../domain/proof.ts';
import type { OpenCredential } from '../../issuing/reads.ts';
import * as credentialSql from '../../issuing/reads.ts';
import { bindingReads } from '../../people/bindings.ts';
import { personTerms } from '../../people/reads.ts';
import { type JournalRow, toEvents } from '../chain.ts';
import type { EventFilter, JournalHead, PersonFilter, Rows, Window } from '../queries.ts';
import { type Reads, recordReads } from '../read/records.ts';
import type { Reader } from '../store.ts';
import { selectList } from '../table.ts';
import { credentials, people, personSalts } from '../tables.ts';
import { readHead } from './journal.ts';
import type { Statements } from './statements.ts';
import { decoder, SqliteTables } from './tables.ts';
import { byStrength } from './writes.ts';

/** The reads as the interface has them, each executed by `run`. */
export function readerOf(reads: Reads, run: <T>(read: () => T | Promise<T>) => Promise<T>): Reader {
  const wrapped = Object.entries(reads).map(([name, read]) => [
    name,
    (...input: unknown[]) => run(() => (read as (...input: unknown[]) => unknown)(...input)),
  ]);
  return Object.fromEntries(wrapped) as Reader;
}

/** The reads that take one look at a table or an index. */
export function tableReads(statements: Statements): Omit<Reads, 'devices' | 'statistics'> {
  return {
    ...recordReads(new SqliteTables(statements)),
    ...bindingReads((sql, ...values) => statements.all<Readonly<Record<string, unknown>>>(sql, ...values)),
    latestProofs: serials => readLatestProofs(statements, serials),
    people: query => readPeople(statements, query),
    credentialsAt: (...input) => statements.all(credentialSql.credentialsAt, ...input).map(toCredential),
    openCredentials: (...input) => statements.all(credentialSql.openCredentials, ...input) as OpenCredential[],
    events: filter => readEvents(statements, filter),
    journalHead(id) {
      if (id !== undefined) return statements.get<JournalHead>('SELECT id, mac FROM event WHERE id = ?', id) ?? null;
      const head = readHead(statements);
      return head === null ? null : { id: head.id, mac: head.mac };
    },
    lastEventId: () => lastEventId(statements),
  };
}

const personDialect = {
  contains: (keyword: string) => ({ sql: 'instr(search, ?) > 0', values: [keyword] }),
  containsAbove: (keyword: string) => ({
    sql: 'instr(search, ?) < instr(search, char(10, 10))',
    values: [keyword],
  }),
  // The second condition makes a portion of a large group begin where the one before ended.
  inGroup: (group: number, after = 0) => ({ sql: 'grp = ? AND person > ?', values: [group, after] }),
};
const toPerson = decoder(people, people.fields);
const toCredential = decoder(credentials, credentials.fields) as (row: unknown) => CredentialRecord;

/** Numbers come from an index first, rows of the page afterwards. */
function readPeople(statements: Statements, query: PersonFilter & Window): Rows<PersonRecord> {
  const { descending, offset, limit, ...filter } = query;
  const terms = personTerms(filter, personDialect);
  const where = terms.length > 0 ? `WHERE ${terms.map(({ sql }) => sql).join(' AND ')}` : '';
  const isGroup = filter.group !== undefined;
  // CROSS fixes the order: the members are walked. Persons whose names are given are found by the names.
  const join = filter.userKeys === undefined ? 'CROSS JOIN' : 'JOIN';
  const from = isGroup ? `FROM person_group ${join} person ON number = person` : 'FROM person';
  const values = terms.flatMap(term => term.values);
  const direction = descending ? 'DESC' : 'ASC';
  const rowsOf = (numbers: readonly number[]) => {
    const sql = `SELECT ${selectList(people.fields)} FROM person
      WHERE number IN (SELECT value FROM json_each(?)) ORDER BY number ${direction}`;
    return statements.all(sql, JSON.stringify(numbers)).map(row => toPerson(row) as PersonRecord);
  };
  if (filter.keyword !== undefined) {
    // One look at the index of the texts instead of two at the table.
    const found = statements.values<number>(`SELECT number ${from} ${where}`, ...values);
    found.sort((a, b) => (descending ? b - a : a - b));
    return { rows: rowsOf(found.slice(offset, offset + limit)), total: found.length };
  }
  const order = `ORDER BY ${isGroup ? 'person_group.person' : 'number'} ${direction}`;
  const page = `SELECT number ${from} ${where} ${order} LIMIT ? OFFSET ?`;
  const rows = rowsOf(statements.values<number>(page, ...values, limit, offset));
  if (filter.after !== undefined) return { rows, total: rows.length };
  return { rows, total: statements.value<number>(`SELECT count(*) ${from} ${where}`, ...values)! };
}

const latestFields = ['proofId', 'serialNumber', 'createdAt', 'proof'] as const satisfies (keyof LatestProof)[];
const latest = `SELECT ${selectList(latestFields)} FROM proof WHERE serial_number = ? ${byStrength} LIMIT 1`;

/** See `Reader.latestProofs`. */
function readLatestProofs(statements: Statements, serials: readonly string[]): ReadonlyMap<string, LatestProof> {
  // Most registries have no answers at all: a batch of 10,000 must not look for each of its serial numbers.
  if (statements.value('SELECT 1 FROM proof LIMIT 1') === undefined) return new Map();
  const found = serials.flatMap(serial => statements.get<LatestProof>(latest, serial) ?? []);
  return new Map(found.map(one => [one.serialNumber, one]));
}

/** Entries examined at a time: a filter that matches few must not hold the event loop while it walks the journal. */
const ENTRIES_AT_ONCE = 10_000;
const EVENT_COLUMNS = 'id, at, type, device, subject, actor, request_id, data, detail';

/** The entries that match, in the order of the filter. Works in time slices. */
async function readEvents(statements: Statements, filter: EventFilter): Promise<EventRecord[]> {
  const { where, values } = conditions(filter);
  const order = filter.before === undefined ? 'ASC' : 'DESC';
  const sql = `SELECT ${EVENT_COLUMNS} FROM event WHERE id > ? AND id <= ? ${where} ORDER BY id ${order} LIMIT ?`;
  const found: JournalRow[] = [];
  const slice = new TimeSlice();
  for (const [after, through] of ranges(statements, filter)) {
    if (found.length === filter.limit) break;
    if (slice.over) await slice.pass();
    const rows = statements.all<JournalRow>(sql, after, through, ...values, filter.limit - found.length);
    for (const row of rows) found.push(row);
  }
  return toEvents(found, persons => new SqliteTables(statements).many(personSalts, persons));
}

/** The ranges of ids (the first excluded, the second included) to search one after the other, each a bounded number of entries. */
function* ranges(statements: Statements, filter: EventFilter): Generator<readonly [after: number, through: number]> {
  const { after, before = Number.POSITIVE_INFINITY, through = Number.POSITIVE_INFINITY, device } = filter;
  const last = Math.min(lastEventId(statements), before - 1, through);
  const isFiltered = eventFilters.some(({ name }) => filter[name] !== undefined);
  // Without a filter, the first rows of the whole range are the result.
  if (!isFiltered) {
    if (after < last) yield [after, last];
  } else if (filter.before === undefined) {
    for (let low = after; low < last; ) {
      const high = device === undefined ? low + ENTRIES_AT_ONCE : nextOfDevice(statements, device, low);
      yield [low, Math.min(high ?? last, last)];
      low = high ?? last;
    }
  } else {
    for (let high = last; high > after; ) {
      const low = device === undefined ? high - ENTRIES_AT_ONCE : previousOfDevice(statements, device, high);
      yield [Math.max(low ?? after, after), high];
      high = low ?? after;
    }
  }
}

/** Id of the entry of the device that is `ENTRIES_AT_ONCE` entries after `id`; undefined if it has fewer. Reads only the index. */
const nextOfDevice = (statements: Statements, device: number, id: number) =>
  statements.value<number>(
    'SELECT id FROM event WHERE device = ? AND id > ? ORDER BY id LIMIT 1 OFFSET ?',
    device,
    id,
    ENTRIES_AT_ONCE,
  );

/** The same in the other direction. */
const previousOfDevice = (statements: Statements, device: number, id: number) =>
  statements.value<number>(
    'SELECT id FROM event WHERE device = ? AND id <= ? ORDER BY id DESC LIMIT 1 OFFSET ?',
    device,
    id,
    ENTRIES_AT_ONCE,
  );

/** Id of the last entry; 0 if there is none. */
function lastEventId(statements: Statements): number {
  return statements.value<number | null>('SELECT max(id) FROM event') ?? 0;
}

function conditions(filter: EventFilter): { where: string; values: unknown[] } {
  const terms = eventFilters.flatMap(compared => {
    const value = filter[compared.name];
    return value === undefined ? [] : [fieldTerm(compared, value)];
  });
  return { where: terms.map(([sql]) => `AND ${sql}`).join(' '), values: terms.map(([, value]) => value) };
}
