import Database, { SqliteError } from 'better-sqlite3';
import { AnchorCheck } from '../anchors.ts';
import { checkRows } from '../check.ts';
import type { JournalKeyList } from '../key-ring.ts';
import type { Anchors, CheckReport } from '../maintenance.ts';
import type { Subjects } from '../subjects.ts';
import { toFailure } from './failure.ts';
import { migrations } from './migrations.ts';
import { addFold, openReader, versionOf } from './open.ts';
import { SqliteRows } from './rows.ts';
import { Statements } from './statements.ts';

const hasTable = (statements: Statements, name: string): boolean =>
  statements.value(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?`, name) !== undefined;

/** An older database lacks some of the tables. */
const numberFaults = ({ tables }: Subjects, statements: Statements): readonly string[] =>
  tables
    .filter(({ name }) => hasTable(statements, name))
    .map(
      ({ name }) => `SELECT 'numbers are missing in ${name}: ' || count(*) || ' rows up to number ' || max(number)
   FROM ${name} HAVING count(*) <> coalesce(max(number), 0)`,
    );

/**
 * Checks a database: its pages and indexes, its counters against counts, its journal from end to end. Works beside a running
 * daemon. Reads everything, which takes seconds for a million devices. Rejects if the database cannot be opened at all.
 */
export async function checkDatabase(
  subjects: Subjects,
  file: string,
  journalKeys: JournalKeyList,
  anchors?: Anchors,
): Promise<CheckReport> {
  const db = openReader(file);
  try {
    const version = versionOf(db, file, migrations.length);
    // All queries must see the same moment.
    db.exec('BEGIN');
    // First of all: the check of the pages evaluates conditions and virtual tables of the schema.
    const foreign = schemaProblems(db, version);
    const pages = foreign.length > 0 ? foreign : pageProblems(db);
    // Results from damaged pages would mislead.
    if (pages.length > 0) return { problems: pages, unproven: [], devices: 0, entries: 0 };
    if (version === 0) return emptyReport(anchors);
    const statements = new Statements(db);
    const faults = [
      ...subjects.inSqlite
        .flatMap(one => Object.entries(one.faults ?? {}))
        .flatMap(([table, sql]) => (hasTable(statements, table) ? [sql] : [])),
      ...numberFaults(subjects, statements),
    ];
    return await checkRows(subjects, new SqliteRows(statements), faults, journalKeys, anchors);
  } catch (error) {
    // Damage in the description of the tables shows before any page can be checked.
    if (isDamage(error)) return { problems: [`database: ${error.message}`], unproven: [], devices: 0, entries: 0 };
    throw toFailure(error, 'cannot check the database', file);
  } finally {
    db.close();
  }
}

/** A database without tables has no journal, which the heads may contradict. */
function emptyReport(anchors: Anchors | undefined): CheckReport {
  const unproven = new AnchorCheck(anchors).problems(0, false).map(text => `journal: ${text}`);
  return { problems: unproven, unproven, devices: 0, entries: 0 };
}

function pageProblems(db: Database.Database): string[] {
  const damaged = integrity(db).filter(text => text !== 'ok');
  if (damaged.length > 0) return damaged.map(text => `database: ${text}`);
  const links = db.pragma('foreign_key_check') as { table: string; rowid: number }[];
  return links.map(row => `${row.table} ${row.rowid} refers to a row that does not exist`);
}

function integrity(db: Database.Database): string[] {
  try {
    const pages = db.pragma(`integrity_check(100)`) as { integrity_check: string }[];
    return pages.map(row => row.integrity_check);
  } catch (error) {
    if (isDamage(error)) return [error.message];
    throw error;
  }
}

const isDamage = (error: unknown): error is InstanceType<typeof SqliteError> =>
  error instanceof SqliteError && error.code.startsWith('SQLITE_CORRUPT');

/** A row of `sqlite_schema`, without the page that it begins on. */
interface SchemaObject {
  readonly type: string;
  readonly name: string;
  readonly tbl_name: string;
  readonly sql: string | null;
}

const SCHEMA_OBJECTS = 'SELECT type, name, tbl_name, sql FROM sqlite_schema';
const MOST_PROBLEMS = 20;

/**
 * Compares every table, index, view and trigger with those that the migrations up to `version` make in an empty database.
 * Returns one line for each object that is foreign, changed or missing. Reads the names and texts only and runs nothing of them.
 */
function schemaProblems(db: Database.Database, version: number): string[] {
  const expected = objectsOf(version);
  const found = new Map(schemaOf(db).map(object => [keyOf(object), object]));
  const foreign = [...found].filter(([key]) => !expected.has(key)).map(([, object]) => `${nameOf(object)} is foreign`);
  const wrong = [...expected].flatMap(([key, object]) => {
    const present = found.get(key);
    if (!present) return [`${nameOf(object)} is missing`];
    return normalized(present.sql) === normalized(object.sql) ? [] : [`${nameOf(object)} was changed`];
  });
  return [...foreign, ...wrong].slice(0, MOST_PROBLEMS).map(text => `schema: ${text}`);
}

function objectsOf(version: number): Map<string, SchemaObject> {
  const db = new Database(':memory:');
  try {
    addFold(db);
    for (const { sql } of migrations.slice(0, version)) db.exec(sql);
    return new Map(schemaOf(db).map(object => [keyOf(object), object]));
  } finally {
    db.close();
  }
}

const schemaOf = (db: Database.Database) => db.prepare(SCHEMA_OBJECTS).all() as SchemaObject[];
const keyOf = ({ type, name, tbl_name }: SchemaObject) => JSON.stringify([type, name, tbl_name]);
/** JSON escapes keep control characters of a hostile name away from the terminal. */
const nameOf = ({ type, name }: SchemaObject) => `${type} ${JSON.stringify(name.slice(0, 80))}`;
/** SQLite keeps the text of a statement as it was written: only white space may differ. */
const normalized = (sql: string | null) => sql?.replaceAll(/\s+/g, ' ').trim() ?? null;
