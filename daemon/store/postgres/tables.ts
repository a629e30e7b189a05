/** The statements that read and write whole records, from the tables as data. */

import type { Tags } from '../../../src/contract/tags.ts';
import type { Rows } from '../queries.ts';
import {
  type ColumnType,
  columnOf,
  type Field,
  keyValues,
  type Lookup,
  type LookupKey,
  type StoreTable,
  selectList,
} from '../table.ts';
import { tagLines, tagsOf } from './tags.ts';

/** A statement and its values. */
export type Statement = readonly [sql: string, values: unknown[]];
type Row = Readonly<Record<string, unknown>>;

const columnTypes: Readonly<Record<ColumnType, string>> = {
  integer: 'int8',
  text: 'text',
  boolean: 'bool',
  json: 'text',
  tags: 'text',
  bytes: 'bytea',
};

/** The name of a table, quoted: `user` is a word of SQL. */
export const nameOf = ({ name }: { readonly name: string }): string => `"${name}"`;

const unnest = (types: readonly string[]) => `unnest(${types.map((type, i) => `$${i + 1}::${type}[]`).join(', ')})`;
const columnsOf = (fields: readonly string[]) => fields.map(columnOf).join(', ');

/** A constant of the program in SQL. */
const literal = (value: unknown) => (typeof value === 'string' ? `'${value}'` : String(value));

function encoded(type: ColumnType, value: unknown): unknown {
  if (type === 'tags') return tagLines(value as Tags);
  return type === 'json' && value !== null ? JSON.stringify(value) : value;
}

function decoded(type: ColumnType, text: string | null): unknown {
  if (type === 'tags') return tagsOf(text);
  return text === null ? null : JSON.parse(text);
}

/** The record of a row of `selectList`. */
export function toRecord<R extends object>({ types }: StoreTable<R>, row: Row): R {
  const record: Record<string, unknown> = { ...row };
  for (const field in row) {
    const type = types[field as Field<R>];
    if (type === 'json' || type === 'tags') record[field] = decoded(type, row[field] as string | null);
  }
  return record as R;
}

const texts = new WeakMap<object, Map<string, string>>();

/** The text of a statement of a table, made once. */
function textOf(table: object, kind: string, make: () => string): string {
  const known = texts.get(table) ?? new Map<string, string>();
  texts.set(table, known);
  const text = known.get(kind) ?? make();
  known.set(kind, text);
  return text;
}

const valuesOf = <R extends object>({ types }: StoreTable<R>, fields: readonly Field<R>[], records: readonly R[]) =>
  fields.map(field => records.map(record => encoded(types[field], record[field])));

/** How the rows of an UPSERT replace others. */
const replacing = <R extends object>({ key, mutable }: StoreTable<R>) =>
  `ON CONFLICT (${columnOf(key)}) DO UPDATE SET ${mutable
    .map(columnOf)
    .map(name => `${name} = excluded.${name}`)
    .join(', ')}`;

/**
 * Adds records: an array for each column, and none for columns that have the initial value in all of them, because it costs time
 * for each row.
 */
export function insert<R extends object>(
  table: StoreTable<R>,
  records: readonly R[],
  { replace = false } = {},
): Statement {
  const constants = Object.entries(table.initial) as [Field<R>, unknown][];
  const isInitial =
    constants.length > 0 && records.every(record => constants.every(([name, value]) => record[name] === value));
  const fields = isInitial ? table.fields.filter(field => !(field in table.initial)) : table.fields;
  const sql = textOf(table, `insert ${isInitial} ${replace}`, () => {
    const others = isInitial ? constants : [];
    const names = columnsOf([...fields, ...others.map(([field]) => field)]);
    const values = ['*', ...others.map(([, value]) => literal(value))].join(', ');
    const from = unnest(fields.map(field => columnTypes[table.types[field]]));
    return `INSERT INTO ${nameOf(table)} (${names}) SELECT ${values} FROM ${from} ${replace ? replacing(table) : ''}`;
  });
  return [sql, valuesOf(table, fields, records)];
}

/** Writes all fields of records that can change. */
export function update<R extends object>(table: StoreTable<R>, records: readonly R[]): Statement {
  const { key, mutable } = table;
  const fields = [key, ...mutable];
  const sql = textOf(table, 'update', () => {
    const assigned = mutable.map(columnOf).map(column => `${column} = n.${column}`);
    const from = unnest(fields.map(field => columnTypes[table.types[field]]));
    return `UPDATE ${nameOf(table)} AS t SET ${assigned.join(', ')}
      FROM ${from} AS n (${columnsOf(fields)}) WHERE t.${columnOf(key)} = n.${columnOf(key)}`;
  });
  return [sql, valuesOf(table, fields, records)];
}

const constantTerm = ([field, value]: [string, unknown]) =>
  value === null ? `${columnOf(field)} IS NULL` : `${columnOf(field)} = ${literal(value)}`;
const constantTerms = <R extends object>({ having }: Pick<Lookup<R>, 'having'>) =>
  Object.entries(having ?? {}).map(constantTerm);

const selectWhere = <R extends object>(table: StoreTable<R>, fields: readonly string[], terms: readonly string[]) =>
  `SELECT ${selectList(fields)} FROM ${nameOf(table)}${terms.length > 0 ? ` WHERE ${terms.join(' AND ')}` : ''}`;

/** Reads the rows that a lookup finds by one key, in the order of the table's key. */
export function selectOne<R extends object>(lookup: Lookup<R>, key: LookupKey): Statement {
  const sql = textOf(lookup, 'one', () => {
    const terms = lookup.by.map((field, i) => `${columnOf(field)} = $${i + 1}`);
    const { table, select: fields = table.fields } = lookup;
    return `${selectWhere(table, fields, [...terms, ...constantTerms(lookup)])} ORDER BY ${columnOf(table.key)}`;
  });
  return [sql, [...keyValues(lookup, key)]];
}

/** Reads the rows that a lookup finds by any of the keys, with the fields that it finds them by. */
export function selectAll<R extends object>(lookup: Lookup<R>, keys: readonly LookupKey[]): Statement {
  const { table, by } = lookup;
  const sql = textOf(lookup, 'all', () => {
    const fields = [...new Set<string>([...(lookup.select ?? table.fields), ...by])];
    const types = by.map(field => columnTypes[table.types[field]]);
    const isAny = `${columnsOf(by)} = ANY($1::${types[0]}[])`;
    const terms =
      by.length > 1 ? [`(${columnsOf(by)}) IN (SELECT * FROM ${unnest(types)})`] : by.length === 1 ? [isAny] : [];
    return selectWhere(table, fields, [...terms, ...constantTerms(lookup)]);
  });
  return [sql, by.map((_, i) => keys.map(key => keyValues(lookup, key)[i]))];
}

/** Rows that have the total beside them; one row without a number if the page is empty. */
export function rowsOf<R>(
  rows: readonly Readonly<Record<string, unknown>>[],
  toRecord: (row: Readonly<Record<string, unknown>>) => R,
): Rows<R> {
  const records = rows.filter(({ number }) => number !== null).map(({ total: _, ...row }) => toRecord(row));
  return { rows: records, total: rows[0]!.total as number };
}

/** The values of a field of many. */
export const column = <T, K extends keyof T>(of: readonly T[], key: K): T[K][] => of.map(item => item[key]);
