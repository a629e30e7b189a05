/** The state of a database that a test compares before and after: all its rows, and its tables. */
import { createHash } from 'node:crypto';
import Database from 'better-sqlite3';
import { copiedTables, keyColumn } from '../../daemon/store/copy.ts';
import type { PostgresServer } from './postgres.ts';

/**
 * A digest of each table, by name. Unlogged tables (counters of limits, single-use codes, requests of terminals) and the checks of
 * health are left out: they change without a commit, and a standby cannot read them.
 */
export async function imageOf(server: PostgresServer, database: string): Promise<Readonly<Record<string, string>>> {
  // One connection: each login costs some milliseconds.
  const client = await server.connect(database);
  try {
    const { rows: tables } = await client.query(
      `SELECT relname AS name FROM pg_class
       WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relpersistence = 'p' ORDER BY 1`,
    );
    const image: Record<string, string> = {};
    for (const { name } of tables) {
      const row = name === 'head' ? `to_jsonb(t) - 'touched'` : 'to_jsonb(t)';
      const { rows } = await client.query(`SELECT ${row}::text AS row FROM "${name}" t ORDER BY 1`);
      image[name] = createHash('sha256').update(JSON.stringify(rows)).digest('hex');
    }
    return image;
  } finally {
    await client.end();
  }
}

const tables = [
  ...copiedTables.map(table => [table, keyColumn(table)] as const),
  ['device_count WHERE count > 0', '1, 2, 3'] as const,
  ['device_tag', '1, 2, 3'] as const,
  ['device_mark', '1, 2'] as const,
];

/** All rows of an SQLite file as JSON, by table. */
export function rowsOf(file: string): ReadonlyMap<string, string> {
  const db = new Database(file, { readonly: true });
  try {
    return new Map(
      tables.map(([table, key]) => {
        const rows = db.prepare(`SELECT * FROM ${table} ORDER BY ${key}`).all();
        return [table, rows.map(row => JSON.stringify(row)).join('\n')];
      }),
    );
  } finally {
    db.close();
  }
}
