/** The reads that take one look at a table or an index. */

import { eventFilters } from '../../devices/filters.ts';
import { Conditions, likeAnywhere } from '../../devices/postgres/conditions.ts';
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
import { type Only, type RecordQueries, recordReads, whereOf } from '../read/records.ts';
import type { Reader } from '../store.ts';
import { type Field, keyOf, type Lookup, type LookupKey, type StoreTable, selectList } from '../table.ts';
import { credentials, people, personSalts } from '../tables.ts';
import type { Readers } from './readers.ts';
import { nameOf, selectAll, selectOne, toRecord } from './tables.ts';
import { byStrength } from './writes.ts';

type RecordReads = Pick<Reader, keyof ReturnType<typeof recordReads>>;

/** The reads of a store, except lists of devices and statistics. */
export function tableReads(readers: Readers): Omit<Reader, 'devices' | 'statistics'> {
  const all = async (sql: string, ...values: readonly number[]) => {
    let at = 0;
    const { rows } = await readers.run(
      sql.replaceAll('?', () => `$${++at}::int8`),
      values,
    );
    return rows;
  };
  return {
    ...(recordReads(queriesOf(readers)) as RecordReads),
    ...bindingReads(all),
    latestProofs: serials => readLatestProofs(readers, serials),
    people: query => readPeople(readers, query),
    credentialsAt: async (...input) => (await all(credentialSql.credentialsAt, ...input)).map(toCredential),
    openCredentials: async (...input) =>
      (await all(credentialSql.openCredentials, ...input)) as unknown as OpenCredential[],
    events: filter => readEvents(readers, filter),
    async lastEventId() {
      return (await readers.run('SELECT event FROM head')).rows[0]!.event as number;
    },
    async journalHead(id) {
      const { rows } =
        id === undefined
          ? await readers.run('SELECT event AS id, mac FROM head WHERE event > 0')
          : await readers.run('SELECT id, mac FROM event WHERE id = $1', [id]);
      return (rows[0] as unknown as JournalHead | undefined) ?? null;
    },
  };
}

const toCredential = (row: Readonly<Record<string, unknown>>): CredentialRecord => toRecord(credentials, row);

function queriesOf(readers: Readers): RecordQueries {
  const all = async <R extends object, S extends Field<R>>(lookup: Lookup<R, S>, key: LookupKey) => {
    const { rows } = await readers.run(...selectOne(lookup, key));
    return rows.map(row => toRecord(lookup.table, row) as Pick<R, S>);
  };
  return {
    all,
    one: async (lookup, key) => (await all(lookup, key))[0] ?? null,
    async many<R extends object, S extends Field<R>>(lookup: Lookup<R, S>, keys: readonly LookupKey[]) {
      if (keys.length === 0) return new Map();
      const { rows } = await readers.run(...selectAll(lookup, keys));
      return new Map(rows.map(row => keyed(lookup, toRecord(lookup.table, row))));
    },
    page: (table, window, only) => pageOf(readers, table, window, only),
  };
}

/** The key of a record, and what the lookup selects of it. */
function keyed<R extends object, S extends Field<R>>(lookup: Lookup<R, S>, record: R): [LookupKey, Pick<R, S>] {
  const fields = lookup.select ?? (lookup.table.fields as readonly S[]);
  const selected = Object.fromEntries(fields.map(field => [field, record[field]]));
  return [keyOf<R>(lookup as Lookup<R>, record)!, selected as Pick<R, S>];
}

/** See `Reader.latestProofs`. */
async function readLatestProofs(
  readers: Readers,
  serials: readonly string[],
): Promise<ReadonlyMap<string, LatestProof>> {
  if (serials.length === 0) return new Map();
  const fields = ['proofId', 'serialNumber', 'createdAt', 'proof'] as const satisfies (keyof LatestProof)[];
  const sql = `SELECT p.* FROM unnest($1::text[]) AS asked (serial) CROSS JOIN LATERAL (
    SELECT ${selectList(fields)} FROM proof WHERE serial_number = asked.serial
    ORDER BY ${byStrength} LIMIT 1) AS p`;
  const { rows } = await readers.run(sql, [serials]);
  return new Map((rows as unknown as LatestProof[]).map(latest => [latest.serialNumber, latest]));
}

/** A page in order of creation, which is the order of numbers: times never go back. */
async function pageOf<R extends object>(
  readers: Readers,
  table: StoreTable<R>,
  { descending, offset, limit }: Window,
  only?: Only<R>,
): Promise<Rows<R>> {
  const name = nameOf(table);
  const where = whereOf(only, '$3');
  const direction = descending ? 'DESC' : 'ASC';
  const { rows } = await readers.runOnce(
    `SELECT t.total, p.* FROM (SELECT count(*) AS total FROM ${name} ${where}) AS t LEFT JOIN
      (SELECT ${selectList(table.fields)} FROM ${name} ${where} ORDER BY number ${direction} LIMIT $1 OFFSET $2) AS p ON true
     ORDER BY p.number ${direction}`,
    [limit, offset, ...(only ? [only.value] : [])],
  );
  return rowsOf(rows, row => toRecord(table, row));
}

const personDialect = {
  contains: (keyword: string) => ({ sql: 'search LIKE ?', values: [likeAnywhere(keyword)] }),
  containsAbove: (keyword: string) => ({
    sql: "position(? IN search) < position(E'\\n\\n' IN search)",
    values: [keyword],
  }),
  // The first term is that of the index.
  inGroup: (group: number) => ({
    sql: "groups <> '[]' AND groups::jsonb @> (?)::jsonb",
    values: [`[${group}]`],
  }),
};

async function readPeople(
  readers: Readers,
  { descending, offset, limit, ...filter }: PersonFilter & Window,
): Promise<Rows<PersonRecord>> {
  const conditions = new Conditions();
  for (const { sql, values } of personTerms(filter, personDialect)) {
    const rest = [...values];
    conditions.addTerm(sql.replaceAll('?', () => conditions.value(rest.shift())));
  }
  const direction = descending ? 'DESC' : 'ASC';
  const { where, values } = conditions;
  const total = filter.after === undefined ? `(SELECT count(*) FROM person ${where})` : '0::int8';
  const { rows } = await readers.runOnce(
    `SELECT t.total, p.* FROM (SELECT ${total} AS total) AS t LEFT JOIN
      (SELECT ${selectList(people.fields)} FROM person ${where} ORDER BY number ${direction}
       LIMIT ${conditions.value(limit)} OFFSET ${conditions.value(offset)}) AS p ON true
     ORDER BY p.number ${direction}`,
    values,
  );
  const found = rowsOf(rows, row => toRecord(people, row));
  return filter.after === undefined ? found : { rows: found.rows, total: found.rows.length };
}

/** Rows that have the total beside them; one row without a number if the page is empty. */
export function rowsOf<R>(
  rows: readonly Readonly<Record<string, unknown>>[],
  toRecord: (row: Readonly<Record<string, unknown>>) => R,
): Rows<R> {
  const records = rows.filter(({ number }) => number !== null).map(({ total: _, ...row }) => toRecord(row));
  return { rows: records, total: rows[0]!.total as number };
}

const columns = 'id, at, type, device, subject, actor, request_id, data, detail';

/** The entries that match, in the order of the filter. */
async function readEvents(readers: Readers, filter: EventFilter): Promise<EventRecord[]> {
  const { after, before, through, limit } = filter;
  const conditions = new Conditions();
  conditions.add('id >', after);
  if (before !== undefined && before !== Number.POSITIVE_INFINITY) conditions.add('id <', before);
  if (through !== undefined && through !== Number.POSITIVE_INFINITY) conditions.add('id <=', through);
  const named = eventFilters.filter(({ name }) => filter[name] !== undefined);
  for (const compared of named) conditions.addField(compared, filter[compared.name]);
  const order = before === undefined ? 'ASC' : 'DESC';
  const sql = `SELECT ${columns} FROM event ${conditions.where} ORDER BY id ${order} LIMIT ${conditions.value(limit)}`;
  // A stream reads the same statement again and again.
  const { rows } =
    named.length === 0
      ? await readers.run(sql, conditions.values, 'long')
      : await readers.runOnce(sql, conditions.values);
  return toEvents(rows as unknown as JournalRow[], persons => queriesOf(readers).many(personSalts, persons));
}
