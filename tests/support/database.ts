/** What a test compares of a database before and after: all its rows, and its tables. */
import { createHash } from 'node:crypto';
import type { PostgresServer } from './postgres.ts';

/** A digest of each table, by name; counters of limits and the checks of health are left out. */
export async function imageOf(server: PostgresServer, database: string): Promise<Readonly<Record<string, string>>> {
  const tables = await server.query(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' ORDER BY 1`,
    database,
  );
  const image: Record<string, string> = {};
  for (const { name } of tables) {
    if (name === 'counter') continue;
    const row = name === 'head' ? `to_jsonb(t) - 'touched'` : 'to_jsonb(t)';
    const rows = await server.query(`SELECT ${row}::text AS row FROM "${name}" t ORDER BY 1`, database);
    image[name as string] = createHash('sha256').update(JSON.stringify(rows)).digest('hex');
  }
  return image;
}
