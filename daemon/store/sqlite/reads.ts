import type { CredentialRecord } from '../../domain/credential.ts';
import type { PersonRecord } from '../../domain/person.ts';
import type { LatestProof } from '../../domain/proof.ts';
import type { JournalHead, PersonFilter, Rows, Window } from '../queries.ts';
import type { OpenCredential } from '../read/credentials.ts';
import * as credentialSql from '../read/credentials.ts';
import { personTerms } from '../read/people.ts';
import { type Reads, recordReads } from '../read/records.ts';
import type { Reader } from '../store.ts';
import { selectList } from '../table.ts';
import { credentials, people } from '../tables.ts';
import { readHead } from './journal.ts';
import { lastEventId, readEvents } from './read-journal.ts';
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
  const from = isGroup ? 'FROM person_group CROSS JOIN person ON number = person' : 'FROM person';
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
