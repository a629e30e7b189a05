import { type default as Database, SqliteError } from 'better-sqlite3';
import { AnchorCheck } from '../anchors.ts';
import { checkRows } from '../check.ts';
import type { JournalKeyList } from '../key-ring.ts';
import type { Anchors, CheckReport } from '../maintenance.ts';
import { numberedTables } from '../tables.ts';
import { tallyFault } from '../write/tallies.ts';
import { toFailure } from './failure.ts';
import { migrations, tallyDialect } from './migrations.ts';
import { openReader, versionOf } from './open.ts';
import { SqliteRows } from './rows.ts';
import { schemaProblems } from './schema.ts';
import { Statements } from './statements.ts';

const inRows = `SELECT number AS device, key AS name, value FROM device, json_each(CASE WHEN json_valid(tags) THEN tags END)`;
const inIndex = 'SELECT device, name, value FROM device_tag';
const tagFaults = `SELECT DISTINCT 'device ' || device || ' has other tags than the index of tags' FROM (
  SELECT * FROM (${inRows} EXCEPT ${inIndex}) UNION ALL SELECT * FROM (${inIndex} EXCEPT ${inRows}))`;

const hasTable = (statements: Statements, name: string): boolean =>
  statements.value(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?`, name) !== undefined;

/** An older database lacks some of the tables. */
const numberFaults = (statements: Statements): readonly string[] =>
  numberedTables
    .filter(({ name }) => hasTable(statements, name))
    .map(
      ({
        name: table,
      }) => `SELECT 'numbers are missing in ${table}: ' || count(*) || ' rows up to number ' || max(number)
   FROM ${table} HAVING count(*) <> coalesce(max(number), 0)`,
    );

/**
 * Checks a database: its pages and indexes, its counters against counts, its journal from end to end. Works beside a running
 * daemon. Reads everything, which takes seconds for a million devices. Rejects if the database cannot be opened at all.
 */
export async function checkDatabase(
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
      ...(hasTable(statements, 'device_tag') ? [tagFaults] : []),
      ...(hasTable(statements, 'tally') ? [tallyFault(tallyDialect)] : []),
      ...numberFaults(statements),
    ];
    return await checkRows(new SqliteRows(statements), faults, journalKeys, anchors);
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
