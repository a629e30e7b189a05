import type { SearchField } from '../../../src/contract/search-words.ts';
import { fieldTerm } from '../../store/sqlite/reads.ts';
import type { Statements } from '../../store/sqlite/statements.ts';
import { fieldFilters, isCounted, sortColumn } from '../filters.ts';
import { aaguidMark, advisoryMark } from '../proof.ts';
import type { DeviceFilter, DeviceQuery } from '../queries.ts';

/** The numbers of the devices on a page, in its order, and how many devices all pages have together. */
export interface NumberPage {
  readonly numbers: readonly number[];
  readonly total: number;
}

/** A page of devices by plain SQL: always right, but slow with many rows if no index serves the query. */
export function sqlPage(statements: Statements, query: DeviceQuery): NumberPage {
  const { where, values } = conditions(query);
  const order = orderBy(query, clockSteppedBack(statements));
  const numbers = statements.values<number>(
    `SELECT number FROM device ${where} ${order} LIMIT ? OFFSET ?`,
    ...values,
    query.limit,
    query.offset,
  );
  return { numbers, total: total(statements, query) };
}

/** Whether a device was ever registered at an earlier time than the device before it. */
function clockSteppedBack(statements: Statements): boolean {
  return statements.value(`SELECT 1 FROM meta WHERE name = 'clock stepped back'`) !== undefined;
}

function orderBy({ sortBy, descending }: DeviceQuery, stepped: boolean): string {
  const direction = descending ? 'DESC' : 'ASC';
  if (sortBy === 'deviceId') return `ORDER BY number ${direction}`;
  if (sortBy === 'createTime' || sortBy === 'createdAt')
    return stepped ? `ORDER BY created_at ${direction}, number ${direction}` : `ORDER BY number ${direction}`;
  return `ORDER BY ${sortColumn(sortBy)} ${direction} NULLS LAST, number ${direction}`;
}

/** Numbers above `after`, up to `through`. */
interface NumberRange {
  readonly after: number;
  readonly through: number;
}
const everyNumber: NumberRange = { after: 0, through: Number.MAX_SAFE_INTEGER };

/** The grade of a device; SQL. */
export const proofGrade = `coalesce(proof ->> '$.proof.grade', 'none')`;

/** The marks that a filter requires. */
export const filterMarks = ({ aaguid, advisory }: DeviceFilter): string[] => [
  ...(aaguid === undefined ? [] : [aaguidMark(aaguid)]),
  ...(advisory === undefined ? [] : [advisoryMark(advisory)]),
];

/** Whether a field contains a text in lower case. instr() has no wildcards; lower() changes ASCII letters only, as serial numbers have. */
const contained: Readonly<Record<SearchField, string>> = {
  id: `(instr(lower(serial_number), ?) > 0 OR instr('dev-' || number, ?) > 0)`,
  maker: 'instr(search_fold(manufacturer), ?) > 0',
  model: 'instr(search_fold(model), ?) > 0',
  user: 'instr(user_key, ?) > 0',
  name: 'EXISTS (SELECT 1 FROM person WHERE person.number = device.person AND instr(search_fold(name), ?) > 0)',
  note: 'instr(search_fold(note), ?) > 0',
  tag: `EXISTS (SELECT 1 FROM json_each(device.tags) AS tag WHERE instr(search_fold(tag.key || ':' || tag.value), ?) > 0)`,
};

/** The terms of a filter, with their values. `range`: where the numbers of the devices are, if the caller has limited them. */
export function conditions(filter: DeviceFilter, range = everyNumber): { where: string; values: unknown[] } {
  const terms: string[] = [];
  const values: unknown[] = [];
  const term = (sql: string, ...given: unknown[]) => {
    terms.push(sql);
    values.push(...given);
  };
  for (const compared of fieldFilters)
    if (filter[compared.name] !== undefined) term(...fieldTerm(compared, filter[compared.name]));
  if (filter.lastUsedBefore !== undefined) term('coalesce(last_used_at, activated_at) < ?', filter.lastUsedBefore);
  // With the range, each part of a scan reads only its part of the index.
  const tagged =
    'number IN (SELECT device FROM device_tag WHERE name = ? AND value = ? AND device > ? AND device <= ?)';
  for (const { name, value } of filter.tags ?? []) term(tagged, name, value, range.after, range.through);
  if (filter.proof !== undefined) term(...fieldTerm({ column: proofGrade, is: 'one of' }, filter.proof));
  for (const mark of filterMarks(filter))
    term(
      'number IN (SELECT device FROM device_mark WHERE mark = ? AND device > ? AND device <= ?)',
      mark,
      range.after,
      range.through,
    );
  if (filter.keyword !== undefined) {
    const lower = asciiLower(filter.keyword);
    term(contained.id, lower, lower);
  }
  for (const { text, in: fields } of filter.search ?? []) {
    const any = fields.map(field => contained[field]).join(' OR ');
    term(`(${any})`, ...fields.flatMap(field => (field === 'id' ? [text, text] : [text])));
  }
  return { where: terms.length ? `WHERE ${terms.join(' AND ')}` : '', values };
}

/** How many of the rows match the filter now. */
export function countMatches(
  statements: Statements,
  rows: readonly { readonly number: number }[],
  filter: DeviceFilter,
) {
  const { where, values } = conditions(filter);
  const numbers = JSON.stringify(rows.map(({ number }) => number));
  return statements.value<number>(
    `SELECT count(*) FROM device ${where} AND number IN (SELECT value FROM json_each(?))`,
    ...values,
    numbers,
  );
}

/** ASCII letters in lower case, all other characters unchanged. */
export function asciiLower(text: string): string {
  return text.replace(/[A-Z]+/g, letters => letters.toLowerCase());
}

function total(statements: Statements, filter: DeviceFilter): number {
  const { where, values } = conditions(filter);
  if (isCounted(filter))
    return statements.value<number>(`SELECT coalesce(sum(count), 0) FROM device_count ${where}`, ...values)!;
  return statements.value<number>(`SELECT count(*) FROM device ${where}`, ...values)!;
}
