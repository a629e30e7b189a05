import { Conditions, likeAnywhere } from '../../store/postgres/conditions.ts';
import { likeId } from '../../store/postgres/list-tables.ts';
import { searchText } from '../../store/postgres/migrations.ts';
import { tagArray, wantedLines } from '../../store/postgres/tags.ts';
import { fieldFilters } from '../filters.ts';
import type { DeviceFilter } from '../queries.ts';

/** The terms of a filter of devices. They use only columns of the row, which can also be a row of `device_before`. */
export function deviceConditions(filter: DeviceFilter, values: unknown[] = []): Conditions {
  const conditions = unmarkedConditions(filter, values);
  if (filter.tags !== undefined && filter.tags.length > 0)
    conditions.addTerm(`tags IS NOT NULL AND ${tagArray} @> ${conditions.value(wantedLines(filter.tags))}::text[]`);
  const { proof, aaguid, advisory } = filter;
  if (aaguid !== undefined) conditions.addTerm(contains(conditions, { proof: { aaguid } }));
  if (advisory !== undefined) conditions.addTerm(contains(conditions, { advisories: [advisory] }));
  if (proof !== undefined) conditions.addTerm(gradeTerm(conditions, proof));
  return conditions;
}

/** Terms of a filter for present devices. Marks are looked up in `device_mark`, which has them in the order of numbers. */
export function presentConditions(filter: DeviceFilter, values: unknown[] = []): Conditions {
  const conditions = unmarkedConditions(filter, values);
  for (const marks of marksOf(filter)) conditions.addTerm(`number IN (${marked(conditions, marks)})`);
  if (filter.proof?.includes('none')) conditions.addTerm(gradeTerm(conditions, filter.proof));
  return conditions;
}

/** The numbers of the devices that have one of these marks. */
export function marked(conditions: Conditions, marks: readonly string[]): string {
  const mark = marks.length === 1 ? `= ${conditions.value(marks[0])}` : `= ANY(${conditions.value(marks)}::text[])`;
  return `SELECT m.number FROM device_mark AS m WHERE m.mark ${mark}`;
}

/** The fields that marks serve. */
export const markFields: readonly (keyof DeviceFilter)[] = ['tags', 'proof', 'aaguid', 'advisory'];

/** Devices have a mark of each of these. A grade among several, because a device has one grade. */
export function marksOf({ tags = [], proof, aaguid, advisory }: DeviceFilter): readonly (readonly string[])[] {
  return [
    ...wantedLines(tags).map(line => [`tag:${line}`]),
    ...(aaguid === undefined ? [] : [[`aaguid:${aaguid}`]]),
    ...(advisory === undefined ? [] : [[`advisory:${advisory}`]]),
    ...(proof === undefined || proof.includes('none') ? [] : [proof.map(grade => `grade:${grade}`)]),
  ];
}

function unmarkedConditions(filter: DeviceFilter, values: unknown[]): Conditions {
  const conditions = new Conditions(values);
  for (const compared of fieldFilters) {
    const value = filter[compared.name];
    if (value === undefined) continue;
    if (compared.field === 'createdAt')
      conditions.addTerm(`number ${compared.is} ${firstFrom(conditions, value as number)}`);
    else conditions.addField(compared, value);
  }
  if (filter.lastUsedBefore !== undefined) conditions.addTerm(unusedSince(conditions, filter.lastUsedBefore, filter));
  if (filter.keyword !== undefined) addKeyword(conditions, filter.keyword);
  return conditions;
}

/** An index has the expression for ACTIVE devices alone; other states are looked up in those of both times. */
function unusedSince(conditions: Conditions, at: number, { status }: DeviceFilter): string {
  const before = `< ${conditions.value(at)}`;
  return status?.join() === 'ACTIVE'
    ? `coalesce(last_used_at, activated_at) ${before}`
    : `(last_used_at ${before} OR last_used_at IS NULL AND activated_at ${before})`;
}

/** The number of the first device of this time or later: times never go back. So a page by number is a part of an index. */
const firstFrom = (conditions: Conditions, at: number): string =>
  `coalesce((SELECT first.number FROM device AS first WHERE first.created_at >= ${conditions.value(at)}
    ORDER BY first.created_at, first.number LIMIT 1), ${Number.MAX_SAFE_INTEGER})`;

/** The proof of a device contains this JSON; served by an index. */
function contains(conditions: Conditions, part: object): string {
  return `proof IS NOT NULL AND proof::jsonb @> ${conditions.value(JSON.stringify(part))}::jsonb`;
}

function gradeTerm(conditions: Conditions, proof: NonNullable<DeviceFilter['proof']>): string {
  const grades = proof.map(grade => (grade === 'none' ? 'proof IS NULL' : contains(conditions, { proof: { grade } })));
  return `(${grades.join(' OR ')})`;
}

const idPrefix = 'dev-';

function addKeyword(conditions: Conditions, keyword: string): void {
  const lower = keyword.replace(/[A-Z]+/g, letters => letters.toLowerCase());
  // Every id contains it.
  if (idPrefix.includes(lower)) return;
  // Only the separator between id and serial number has a line break.
  if (lower.includes('\n')) conditions.addTerm('false');
  else if (/^dev-\d{1,15}$/.test(lower)) conditions.addTerm(startOfIds(conditions, lower));
  else addSearched(conditions, lower);
}

/**
 * The index is searched for a few parts of the keyword, and the rows that it finds for all of it: each part is a list of devices that the
 * index reads. It goes through the list of the first part, and looks its entries up in the others.
 */
function addSearched(conditions: Conditions, keyword: string): void {
  const parts = searchParts(keyword);
  for (const part of parts.length > 1 ? parts : [keyword]) conditions.add(`${searchText} LIKE`, likeAnywhere(part));
  if (parts.length > 1) conditions.addTerm(`position(${conditions.value(keyword)} in ${searchText}) > 0`);
}

/** Parts that the index is searched for. Each further one reads a list more, and excludes next to nothing. */
const mostParts = 6;

/** Trigrams of a keyword in lower case, the last one first: many serial numbers have their beginning in common. */
export function searchParts(keyword: string): string[] {
  const words = keyword.match(/[a-z\d]{3,}/g) ?? [];
  return words.flatMap(trigramsOf).reverse().slice(0, mostParts);
}

/** As few trigrams as have all of a word, but three of one that has them: two find many other devices. */
function trigramsOf(word: string): string[] {
  const last = word.length - 3;
  const count = Math.min(last + 1, Math.max(3, Math.ceil(word.length / 3)));
  return Array.from({ length: count }, (_, i) => Math.round((i * last) / Math.max(count - 1, 1))).map(at =>
    word.slice(at, at + 3),
  );
}

/** The numbers whose digits begin with those of the keyword, and serial numbers that have it: an index of its own for each part. */
function startOfIds(conditions: Conditions, keyword: string): string {
  const digits = keyword.slice(idPrefix.length);
  const inSerial = `${likeId} AND lower(serial_number COLLATE "C") LIKE ${conditions.value(likeAnywhere(keyword))}`;
  return `(${[...rangesOf(digits), inSerial].join(' OR ')})`;
}

/** Ids have no zeros in front. */
function* rangesOf(digits: string): Generator<string> {
  if (digits.startsWith('0')) return;
  for (
    let [first, count] = [Number(digits), 1];
    first < Number.MAX_SAFE_INTEGER;
    [first, count] = [first * 10, count * 10]
  )
    yield `number BETWEEN ${first} AND ${first + count - 1}`;
}

/** Whether a keyword has three letters or digits in a row, which the index for keywords needs to find few devices fast. */
export const isSelective = (keyword: string | undefined): boolean => /[a-z\d]{3}/i.test(keyword ?? '');
