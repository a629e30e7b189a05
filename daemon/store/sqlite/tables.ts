/** What the files of the tables (devices, users, apps, backups) share: columns, assignments, pages. */
import type { Rows, Window } from '../queries.ts';
import type { Reader } from '../store.ts';
import type { Statements } from './statements.ts';

/** The reads of a store, synchronous where they take microseconds. */
export type Reads = {
  readonly [K in keyof Reader]: Reader[K] extends (...input: infer I) => Promise<infer T>
    ? (...input: I) => T | Promise<T>
    : never;
};

const snakeCase = (name: string) => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);

/** The select list that returns rows with exactly these fields (booleans as 0 and 1). */
export const columnsOf = (fields: object): string =>
  Object.keys(fields)
    .map(field => (snakeCase(field) === field ? field : `${snakeCase(field)} AS ${field}`))
    .join(', ');

/** The part of an UPDATE between SET and WHERE, and its values. Fields that are absent from `set` keep their values. */
export function assignments(settable: readonly string[], set: object): { sql: string; values: unknown[] } {
  const given = set as Readonly<Record<string, unknown>>;
  const fields = settable.filter(field => given[field] !== undefined);
  return {
    sql: fields.map(field => `${snakeCase(field)} = ?`).join(', '),
    values: fields.map(field => (typeof given[field] === 'boolean' ? Number(given[field]) : given[field])),
  };
}

/** A page of a table in order of creation, each row made into a record. `only`: the rows with this value. */
export function pageOf<C, R>(
  statements: Statements,
  { table, columns, toRecord }: { readonly table: string; readonly columns: string; toRecord(columns: C): R },
  { descending, offset, limit }: Window,
  only?: { readonly column: string; readonly value: string | number },
): Rows<R> {
  const where = only ? `WHERE ${only.column} = ?` : '';
  const values = only ? [only.value] : [];
  const direction = descending ? 'DESC' : 'ASC';
  const rows = statements.all<C>(
    `SELECT ${columns} FROM ${table} ${where} ORDER BY created_at ${direction}, number ${direction} LIMIT ? OFFSET ?`,
    ...values,
    limit,
    offset,
  );
  const total = statements.value<number>(`SELECT count(*) FROM ${table} ${where}`, ...values)!;
  return { rows: rows.map(row => toRecord(row)), total };
}

/** Columns of a record as SQLite stores them: booleans are 0 or 1. */
export type Stored<T> = { readonly [K in keyof T]: T[K] extends boolean ? number : T[K] };
