/** The reads of a database. */

import { type JournalRow, type SealedNames, toEvents } from '../chain.ts';
import type { EventRecord } from '../journal.ts';
import type { EventFilter, JournalHead, Rows, Window } from '../queries.ts';
import { eventColumns, eventFilters } from '../read/event-filters.ts';
import { type Only, type RecordQueries, whereOf } from '../read/records.ts';
import { besideDevices } from '../schema.ts';
import type { Reader } from '../store.ts';
import type { Subjects } from '../subjects.ts';
import { type Field, keyOf, type Lookup, type LookupKey, type StoreTable, selectList } from '../table.ts';
import { Conditions } from './conditions.ts';
import type { Readers } from './readers.ts';
import { nameOf, rowsOf, selectAll, selectOne, toRecord } from './tables.ts';

export function tableReads(subjects: Subjects, readers: Readers): Reader {
  const own: Partial<Reader> = {
    events: filter => readEvents(readers, subjects.names, filter),
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
  const ofSubjects = subjects.stated('postgres').map(({ reads }) => reads?.(readers));
  return Object.assign(own, subjects.reads(queriesOf(readers)), ...ofSubjects);
}

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
    async rows<R extends object>(sql: string, values: readonly LookupKey[], table?: StoreTable<R>) {
      let at = 0;
      const { rows } = await readers.run(
        sql.replaceAll('?', () => `$${at + 1}::${typeof values[at++] === 'string' ? 'text' : 'int8'}`),
        values,
      );
      return (table ? rows.map(row => toRecord(table, row)) : rows) as unknown as readonly R[];
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

/** The entries that match, in the order of the filter. */
async function readEvents(
  readers: Readers,
  names: SealedNames | undefined,
  filter: EventFilter,
): Promise<EventRecord[]> {
  const { after, before, through, limit } = filter;
  const conditions = new Conditions();
  conditions.add('id >', after);
  if (before !== undefined && before !== Number.POSITIVE_INFINITY) conditions.add('id <', before);
  if (through !== undefined && through !== Number.POSITIVE_INFINITY) conditions.add('id <=', through);
  const named = eventFilters.filter(({ name }) => filter[name] !== undefined);
  for (const compared of named) conditions.addField(compared, filter[compared.name]);
  if (filter.besideDevices) conditions.addTerm(besideDevices);
  const order = before === undefined ? 'ASC' : 'DESC';
  const sql = `SELECT ${eventColumns} FROM event ${conditions.where} ORDER BY id ${order} LIMIT ${conditions.value(limit)}`;
  // A stream reads the same statement again and again.
  const { rows } =
    named.length === 0
      ? await readers.run(sql, conditions.values, 'long')
      : await readers.runOnce(sql, conditions.values);
  return toEvents(rows as unknown as JournalRow[], names, queriesOf(readers));
}
