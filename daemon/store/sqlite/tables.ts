/** The statements that read and write whole records, from the tables as data. */
import type Database from 'better-sqlite3';
import { hasTags, noTags, type Tags } from '../../../src/contract/tags.ts';
import type { Rows, Window } from '../queries.ts';
import { type Only, type RecordQueries, whereOf } from '../read/records.ts';
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
import type { Statements } from './statements.ts';

/** The tags in a column: JSON, null if there are none. */
export const tagsOf = (text: string | null): Tags => (text === null ? noTags : (JSON.parse(text) as Tags));

function encoded(type: ColumnType, value: unknown): unknown {
  if (type === 'boolean') return Number(value);
  if (type === 'tags') return hasTags(value as Tags) ? JSON.stringify(value) : null;
  return type === 'json' && value !== null ? JSON.stringify(value) : value;
}

function decoded(type: ColumnType, value: unknown): unknown {
  if (type === 'boolean') return value === 1;
  if (type === 'tags') return tagsOf(value as string | null);
  return value === null ? null : JSON.parse(value as string);
}

/** The types that are stored as they are. */
const plain: ReadonlySet<ColumnType> = new Set(['integer', 'text', 'bytes']);

/** Makes records of rows of `selectList`, in place: lists read hundreds of them. */
export function decoder<R extends object, S extends Field<R>>(
  { types }: StoreTable<R>,
  fields: readonly S[],
): (row: unknown) => Pick<R, S> {
  const coded = fields.filter(field => !plain.has(types[field]));
  return row => {
    const record = row as Record<string, unknown>;
    for (const field of coded) record[field] = decoded(types[field], record[field]);
    return record as Pick<R, S>;
  };
}

/** A constant of the program in SQL. */
function literal(value: unknown): string {
  if (value === null) return 'NULL';
  return typeof value === 'string' ? `'${value}'` : String(Number(value));
}
const constantTerm = ([field, value]: [string, unknown]) =>
  value === null ? `${columnOf(field)} IS NULL` : `${columnOf(field)} = ${literal(value)}`;

/** Rows that `insertTogether` adds. With twice as many, one takes 5 % less (measured). */
export const rowsTogether = 16;

interface Find {
  readonly sql: string;
  /** The column by which the rows are still to be sorted; null if they are. */
  readonly sortBy: string | null;
  readonly toRecord: (row: unknown) => unknown;
}

/** A statement that writes these fields. */
interface Write {
  readonly statement: Database.Statement;
  readonly fields: readonly string[];
  /** The types of those that are not stored as they are; null for the others. */
  readonly coded: readonly (ColumnType | null)[];
}

/** How the rows of a table are written. */
interface Writes {
  /** `initial`: for rows whose other fields have their initial values. */
  readonly insert: { readonly initial: Write; readonly all: Write };
  /** Of `rowsTogether` rows, by the bits of the fields whose value they have in common. */
  readonly together: Map<number, Write>;
  readonly constants: readonly (readonly [string, unknown])[];
  /** By the bits of the fields that have changed. */
  readonly updates: Map<number, Write>;
}

/** Reads and writes records. */
export class SqliteTables implements RecordQueries {
  readonly statements: Statements;
  readonly #finds = new Map<unknown, Find>();
  readonly #writes = new Map<unknown, Writes>();

  constructor(statements: Statements) {
    this.statements = statements;
  }

  one<R extends object, S extends Field<R>>(lookup: Lookup<R, S>, key: LookupKey): Pick<R, S> | null {
    const { sql, toRecord } = this.#findOf(lookup);
    const statement = this.statements.of(sql);
    const row = lookup.by.length === 1 ? statement.get(key) : statement.get(...keyValues(lookup, key));
    return row === undefined ? null : (toRecord(row) as Pick<R, S>);
  }

  all<R extends object, S extends Field<R>>(lookup: Lookup<R, S>, key: LookupKey): Pick<R, S>[] {
    const { sql, sortBy, toRecord } = this.#findOf(lookup);
    const rows = this.statements.all<Readonly<Record<string, LookupKey>>>(sql, ...keyValues(lookup, key));
    if (sortBy !== null && rows.length > 1) rows.sort((a, b) => (a[sortBy]! < b[sortBy]! ? -1 : 1));
    return rows.map(row => toRecord(row) as Pick<R, S>);
  }

  many<R extends object, S extends Field<R>>(
    lookup: Lookup<R, S>,
    keys: readonly LookupKey[],
  ): Map<LookupKey, Pick<R, S>> {
    const found = new Map<LookupKey, Pick<R, S>>();
    // A transaction for each key would take twice as long (measured).
    this.statements.together(() => {
      for (const key of keys) {
        const row = this.one(lookup, key);
        if (row) found.set(key, row);
      }
    });
    return found;
  }

  rows<R extends object>(sql: string, values: readonly LookupKey[], table?: StoreTable<R>): R[] {
    const rows = this.statements.all(sql, ...values);
    return (table ? rows.map(decoder(table, table.fields)) : rows) as R[];
  }

  page<R extends object>(table: StoreTable<R>, { descending, offset, limit }: Window, only?: Only<R>): Rows<R> {
    const where = whereOf(only, '?');
    const values = only ? [only.value] : [];
    const direction = descending ? 'DESC' : 'ASC';
    const order = `ORDER BY created_at ${direction}, number ${direction}`;
    const sql = `SELECT ${selectList(table.fields)} FROM ${table.name} ${where} ${order} LIMIT ? OFFSET ?`;
    const rows = this.statements.all(sql, ...values, limit, offset);
    const total = this.statements.value<number>(`SELECT count(*) FROM ${table.name} ${where}`, ...values)!;
    return { rows: rows.map(decoder(table, table.fields)) as R[], total };
  }

  /** False, and nothing is written, if another row has what is unique. */
  insert<R extends object>(table: StoreTable<R>, record: R): boolean {
    const { insert } = this.#writesOf(table);
    const { statement, fields, coded } = this.isInitial(table, record) ? insert.initial : insert.all;
    return statement.run(...valuesOf(record, fields, coded)).changes === 1;
  }

  /** Whether the fields of a record that have initial values have them. */
  isInitial<R extends object>(table: StoreTable<R>, record: R): boolean {
    for (const [field, value] of this.#writesOf(table).constants) if (record[field as Field<R>] !== value) return false;
    return true;
  }

  /**
   * Adds `rowsTogether` rows that are initial. What they have in common is an argument once: most of the time of a statement is
   * for the call and its arguments, so that an entry of the journal takes half as long, and a device two thirds (measured).
   * Returns how many were added: fewer if another row has what is unique; which ones is not known then.
   */
  insertTogether<R extends object>(table: StoreTable<R>, rows: readonly R[]): number {
    const { insert, together } = this.#writesOf(table);
    const { fields, coded } = insert.initial;
    const first = rows[0]!;
    const common: Record<string, unknown> = {};
    let bits = 0;
    for (let i = 0; i < fields.length; i++) {
      const field = fields[i] as Field<R>;
      if (!rows.every(row => row[field] === first[field])) continue;
      bits |= 1 << i;
      common[field] = coded[i] === null ? first[field] : encoded(coded[i]!, first[field]);
    }
    const known = together.get(bits) ?? this.#insertOf(table, fields as readonly Field<R>[], bits);
    together.set(bits, known);
    const values: unknown[] = [];
    for (const row of rows) values.push(...valuesOf(row, known.fields, known.coded));
    return known.statement.run(...values, common).changes;
  }

  /** Adds a row, or takes the place of the one with its key. */
  put<R extends object>(table: StoreTable<R>, row: R): void {
    const { fields, key, types } = table;
    const names = fields.map(columnOf);
    const set = names.filter(name => name !== columnOf(key)).map(name => `${name} = excluded.${name}`);
    this.statements.run(
      `INSERT INTO ${table.name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})
       ON CONFLICT (${columnOf(key)}) DO UPDATE SET ${set.join(', ')}`,
      ...fields.map(field => encoded(types[field], row[field])),
    );
  }

  remove<R extends object>({ name, key }: StoreTable<R>, value: LookupKey): void {
    this.statements.run(`DELETE FROM ${name} WHERE ${columnOf(key)} = ?`, value);
  }

  /** Writes the fields that have changed. */
  update<R extends object>(table: StoreTable<R>, before: R, after: R): void {
    const { mutable, key } = table;
    let bits = 0;
    for (let i = 0; i < mutable.length; i++) if (before[mutable[i]!] !== after[mutable[i]!]) bits |= 1 << i;
    if (bits === 0) return;
    const { updates } = this.#writesOf(table);
    const known = updates.get(bits) ?? this.#updateOf(table, bits);
    updates.set(bits, known);
    const values = valuesOf(after, known.fields, known.coded);
    values.push(after[key]);
    known.statement.run(...values);
  }

  #findOf<R extends object>(lookup: Lookup<R>): Find {
    const known = this.#finds.get(lookup);
    if (known) return known;
    const { table, by, having, select = table.fields } = lookup;
    const terms = [...by.map(field => `${columnOf(field)} = ?`), ...Object.entries(having ?? {}).map(constantTerm)];
    const where = terms.length > 0 ? `WHERE ${terms.join(' AND ')}` : '';
    const isSelected = (select as readonly string[]).includes(table.key);
    // SQLite makes the plan of a sorted statement again for each key, which takes ten times as long as the search (measured).
    const order = isSelected ? '' : `ORDER BY ${columnOf(table.key)}`;
    const sql = `SELECT ${selectList(select)} FROM ${table.name} ${where} ${order}`;
    const find = { sql, sortBy: isSelected ? table.key : null, toRecord: decoder(table, select) };
    this.#finds.set(lookup, find);
    return find;
  }

  #writesOf<R extends object>(table: StoreTable<R>): Writes {
    const known = this.#writes.get(table);
    if (known) return known;
    const varying = table.fields.filter(field => !(field in table.initial));
    const made = {
      insert: { initial: this.#insertOf(table, varying), all: this.#insertOf(table, table.fields) },
      together: new Map(),
      constants: Object.entries(table.initial),
      updates: new Map(),
    };
    this.#writes.set(table, made);
    return made;
  }

  /** Fields that are left out have their initial values. `common`: the bits of fields that all rows have in common; absent for one row. */
  #insertOf<R extends object>(table: StoreTable<R>, fields: readonly Field<R>[], common?: number): Write {
    const constants = Object.entries(table.initial).filter(([field]) => !fields.includes(field as Field<R>));
    const names = [...fields, ...constants.map(([field]) => field)].map(columnOf).join(', ');
    const isOwn = (_: unknown, i: number) => common === undefined || (common & (1 << i)) === 0;
    const arguments_ = fields.map((field, i) => (isOwn(field, i) ? '?' : `@${field}`));
    const row = `(${[...arguments_, ...constants.map(([, value]) => literal(value))].join(', ')})`;
    const rows = common === undefined ? row : Array.from({ length: rowsTogether }, () => row).join(', ');
    const unless = table.unique.by.length > 0 ? 'ON CONFLICT DO NOTHING' : '';
    return this.#write(`INSERT INTO ${table.name} (${names}) VALUES ${rows} ${unless}`, table, fields.filter(isOwn));
  }

  #updateOf<R extends object>(table: StoreTable<R>, bits: number): Write {
    const fields = table.mutable.filter((_, i) => (bits & (1 << i)) !== 0);
    const set = fields.map(field => `${columnOf(field)} = ?`).join(', ');
    return this.#write(`UPDATE ${table.name} SET ${set} WHERE ${columnOf(table.key)} = ?`, table, fields);
  }

  #write<R extends object>(sql: string, { types }: StoreTable<R>, fields: readonly Field<R>[]): Write {
    const coded = fields.map(field => (plain.has(types[field]) ? null : types[field]));
    return { statement: this.statements.of(sql), fields, coded };
  }
}

/**
 * To be passed as arguments: better-sqlite3 takes 10 % longer for an array (measured). A copy of the names holds the values, because V8
 * converts an array that grows from whole numbers to times to texts twice.
 */
function valuesOf<R extends object>(
  record: R,
  fields: readonly string[],
  coded: readonly (ColumnType | null)[],
): unknown[] {
  const values: unknown[] = [...fields];
  for (let i = 0; i < fields.length; i++) {
    const value = record[fields[i] as Field<R>];
    const type = coded[i]!;
    values[i] = type === null ? value : encoded(type, value);
  }
  return values;
}
