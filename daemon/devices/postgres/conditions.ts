import { Conditions } from '../../store/postgres/conditions.ts';
import { tagArray, wantedLines } from '../../store/postgres/tags.ts';
import { fieldFilters } from '../filters.ts';
import type { DeviceFilter } from '../queries.ts';
import { keywordTerm } from './keyword.ts';
import { taggedNow, taggedThen, wordTerm } from './search.ts';

/** The terms of a filter of devices. They use only columns of the row, which can also be a row of `device_before`. */
export function deviceConditions(filter: DeviceFilter, values: unknown[] = []): Conditions {
  const conditions = unmarkedConditions(filter, values);
  for (const word of filter.search ?? []) conditions.addTerm(wordTerm(conditions, word, taggedThen));
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
  for (const word of filter.search ?? []) conditions.addTerm(wordTerm(conditions, word, taggedNow));
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
  if (filter.keyword !== undefined) conditions.addTerm(keywordTerm(conditions, filter.keyword));
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
