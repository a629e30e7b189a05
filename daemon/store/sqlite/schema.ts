import Database from 'better-sqlite3';
import type { Migration } from '../schema.ts';
import { migrations as released } from './migrations.ts';

/** A row of `sqlite_schema`, without the page that it begins on. */
interface SchemaObject {
  readonly type: string;
  readonly name: string;
  readonly tbl_name: string;
  readonly sql: string | null;
}

const rows = 'SELECT type, name, tbl_name, sql FROM sqlite_schema';
const maxProblems = 20;

/**
 * Compares every table, index, view and trigger with those that the migrations up to `version` make in an empty database.
 * Returns one line for each object that is foreign, changed or missing. Reads the names and texts only and runs nothing of them.
 */
export function schemaProblems(db: Database.Database, version: number, migrations = released): string[] {
  const expected = objectsOf(migrations, version);
  const found = new Map(schemaOf(db).map(object => [keyOf(object), object]));
  const foreign = [...found].filter(([key]) => !expected.has(key)).map(([, object]) => `${nameOf(object)} is foreign`);
  const wrong = [...expected].flatMap(([key, object]) => {
    const present = found.get(key);
    if (!present) return [`${nameOf(object)} is missing`];
    return normalized(present.sql) === normalized(object.sql) ? [] : [`${nameOf(object)} was changed`];
  });
  return [...foreign, ...wrong].slice(0, maxProblems).map(text => `schema: ${text}`);
}

function objectsOf(migrations: readonly Migration[], version: number): Map<string, SchemaObject> {
  const db = new Database(':memory:');
  try {
    for (const { sql } of migrations.slice(0, version)) db.exec(sql);
    return new Map(schemaOf(db).map(object => [keyOf(object), object]));
  } finally {
    db.close();
  }
}

const schemaOf = (db: Database.Database) => db.prepare(rows).all() as SchemaObject[];
const keyOf = ({ type, name, tbl_name }: SchemaObject) => JSON.stringify([type, name, tbl_name]);
/** JSON escapes keep control characters of a hostile name away from the terminal. */
const nameOf = ({ type, name }: SchemaObject) => `${type} ${JSON.stringify(name.slice(0, 80))}`;
/** SQLite keeps the text of a statement as it was written: only white space may differ. */
const normalized = (sql: string | null) => sql?.replaceAll(/\s+/g, ' ').trim() ?? null;
