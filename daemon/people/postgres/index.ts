/** Lists of persons in PostgreSQL. */

import { Conditions, likeAnywhere } from '../../store/postgres/conditions.ts';
import type { Readers } from '../../store/postgres/readers.ts';
import type { PostgresSubject } from '../../store/postgres/subject.ts';
import { rowsOf, toRecord } from '../../store/postgres/tables.ts';
import type { Rows, Window } from '../../store/queries.ts';
import { selectList } from '../../store/table.ts';
import type { PersonFilter } from '../queries.ts';
import { personTerms } from '../reads.ts';
import type { PersonRecord } from '../records.ts';
import { people } from '../tables.ts';

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

export const peopleInPostgres: PostgresSubject = {
  reads: readers => ({ people: query => readPeople(readers, query) }),
};
