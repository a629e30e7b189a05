/** Lists of persons in SQLite. */

import type { Rows, Window } from '../../store/queries.ts';
import type { Statements } from '../../store/sqlite/statements.ts';
import type { BesideRows, SqliteSubject } from '../../store/sqlite/subject.ts';
import { decoder, type SqliteTables } from '../../store/sqlite/tables.ts';
import { selectList } from '../../store/table.ts';
import type { PersonFilter } from '../queries.ts';
import { personTerms } from '../reads.ts';
import type { PersonRecord } from '../records.ts';
import { people } from '../tables.ts';

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
    // One search in the index of the texts instead of two in the table.
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

const keepName = `INSERT INTO search_text (kind, key, text) VALUES ('name', ?, search_fold(?))
  ON CONFLICT (kind, key) DO UPDATE SET text = excluded.text`;
const removeName = `DELETE FROM search_text WHERE kind = 'name' AND key = ?`;

/** Keeps the names of persons in the texts by which devices are found. */
const besidePeople = ({ statements }: SqliteTables): BesideRows<PersonRecord> => ({
  table: people,
  written(before, { number, name }) {
    if (name === (before?.name ?? null)) return;
    if (name === null) statements.run(removeName, String(number));
    else statements.run(keepName, String(number), name);
  },
  end() {},
});

export const peopleInSqlite: SqliteSubject = {
  beside: besidePeople,
  reads: statements => ({ people: query => readPeople(statements, query) }),
};
