import type { DeviceFilter } from '../queries.ts';
import { searchText } from './migrations.ts';
import { tagArray, wantedLines } from './tags.ts';

/** The terms of a WHERE clause, and the values of its parameters. */
export class Conditions {
  readonly values: unknown[] = [];
  readonly #terms: string[] = [];

  /** The parameter for a value. */
  value(value: unknown): string {
    return `$${this.values.push(value)}`;
  }

  /** `left` is a column and an operator. */
  add(left: string, value: unknown): void {
    this.#terms.push(`${left} ${this.value(value)}`);
  }

  addTerm(term: string): void {
    this.#terms.push(term);
  }

  addOneOf(column: string, values: readonly string[]): void {
    if (values.length === 1) this.add(`${column} =`, values[0]);
    else this.addTerm(`${column} = ANY(${this.value(values)}::text[])`);
  }

  get where(): string {
    return this.#terms.length > 0 ? `WHERE ${this.#terms.join(' AND ')}` : '';
  }
}

/** The terms of a filter of devices. */
export function deviceConditions(filter: DeviceFilter): Conditions {
  const conditions = new Conditions();
  if (filter.deviceType !== undefined) conditions.addOneOf('device_type', filter.deviceType);
  if (filter.status !== undefined) conditions.addOneOf('status', filter.status);
  if (filter.manufacturer !== undefined) conditions.add('manufacturer =', filter.manufacturer);
  if (filter.userId !== undefined) conditions.add('user_id =', filter.userId);
  if (filter.serialNumber !== undefined) conditions.add('serial_number =', filter.serialNumber);
  if (filter.createdFrom !== undefined) conditions.add('created_at >=', filter.createdFrom);
  if (filter.createdTo !== undefined) conditions.add('created_at <', filter.createdTo);
  if (filter.lastUsedBefore !== undefined)
    conditions.add('coalesce(last_used_at, activated_at) <', filter.lastUsedBefore);
  if (filter.codeExpiresBefore !== undefined) conditions.add('activation_code_expires_at <', filter.codeExpiresBefore);
  if (filter.tags !== undefined && filter.tags.length > 0)
    conditions.addTerm(`tags IS NOT NULL AND ${tagArray} @> ${conditions.value(wantedLines(filter.tags))}::text[]`);
  addProof(conditions, filter);
  if (filter.keyword !== undefined) addKeyword(conditions, filter.keyword);
  return conditions;
}

/** The proof of a device contains this JSON; served by an index. */
function contains(conditions: Conditions, part: object): string {
  return `proof IS NOT NULL AND proof::jsonb @> ${conditions.value(JSON.stringify(part))}::jsonb`;
}

function addProof(conditions: Conditions, { proof, aaguid, advisory }: DeviceFilter): void {
  if (aaguid !== undefined) conditions.addTerm(contains(conditions, { proof: { aaguid } }));
  if (advisory !== undefined) conditions.addTerm(contains(conditions, { advisories: [advisory] }));
  if (proof === undefined) return;
  const grades = proof.map(grade => (grade === 'none' ? 'proof IS NULL' : contains(conditions, { proof: { grade } })));
  conditions.addTerm(`(${grades.join(' OR ')})`);
}

const idPrefix = 'dev-';

function addKeyword(conditions: Conditions, keyword: string): void {
  const lower = keyword.replace(/[A-Z]+/g, letters => letters.toLowerCase());
  // Every id contains it.
  if (idPrefix.includes(lower)) return;
  // Only the separator between id and serial number has a line break.
  if (lower.includes('\n')) conditions.addTerm('false');
  else conditions.add(`${searchText} LIKE`, `%${lower.replace(/[\\%_]/g, '\\$&')}%`);
}

const filterFields: Readonly<Record<keyof DeviceFilter, 0>> = {
  deviceType: 0,
  status: 0,
  manufacturer: 0,
  userId: 0,
  serialNumber: 0,
  createdFrom: 0,
  createdTo: 0,
  lastUsedBefore: 0,
  codeExpiresBefore: 0,
  keyword: 0,
  tags: 0,
  proof: 0,
  aaguid: 0,
  advisory: 0,
};

/** Whether the filter names nothing but these fields. */
export const namesOnly = (filter: DeviceFilter, ...fields: readonly (keyof DeviceFilter)[]): boolean =>
  (Object.keys(filterFields) as (keyof DeviceFilter)[]).every(
    name => filter[name] === undefined || fields.includes(name),
  );
