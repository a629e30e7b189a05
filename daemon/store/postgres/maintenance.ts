import { checkRows, journalReads } from '../check.ts';
import type { StoredRows } from '../copy.ts';
import type { StoreMaintenance } from '../maintenance.ts';
import type { Subjects } from '../subjects.ts';
import { tallyFault } from '../write/tallies.ts';
import { Connections } from './connections.ts';
import { type DatabaseAddress, loginFrom } from './login.ts';
import { beforeOpening, currentVersion } from './migrate.ts';
import { openPostgresStore } from './postgres-store.ts';
import { Primary } from './primary.ts';
import { Readers } from './readers.ts';
import { tableReads } from './reads.ts';
import { PostgresRows } from './rows.ts';
import { tallyDialect } from './tallies.ts';

/** A database and the key of its journal. */
interface PostgresRegistry extends DatabaseAddress {
  readonly subjects: Subjects;
  /** In the order of their use, the last one the current one. */
  readonly journalKeys: () => Promise<readonly Uint8Array[]>;
}

/** Queries that return a text for each fault, beside those of all engines. */
const faults = ({ tables }: Subjects): readonly string[] => [
  `SELECT 'the counter of registrations in hour ' || hour || ' is ' || sum(kept) || ', there are ' || sum(found)
   FROM (SELECT hour, count AS kept, 0 AS found FROM registration_count
         UNION ALL SELECT created_at / 3600000, 0, count(*) FROM device GROUP BY 1) AS counts
   GROUP BY hour HAVING sum(kept) <> sum(found)`,
  `SELECT 'the counter of ' || device_type || ' ' || status || ' of ' || manufacturer || ' of user ' || user_key || ' is ' || sum(kept) || ', there are ' || sum(found)
   FROM (SELECT user_key, device_type, status, manufacturer, count AS kept, 0 AS found FROM device_key_count
         UNION ALL SELECT user_key, device_type, status, manufacturer, 0, count(*) FROM device
           WHERE user_key IN (SELECT user_key FROM device_key_count) GROUP BY 1, 2, 3, 4) AS counts
   GROUP BY user_key, device_type, status, manufacturer HAVING sum(kept) <> sum(found)`,
  `SELECT 'the marks of device ' || number || ' differ from its tags and proof' FROM (
     SELECT mark, number, -1 AS by FROM device_mark
     UNION ALL SELECT unnest(marks_of_device(tags, proof)), number, 1 FROM device
       WHERE tags IS NOT NULL OR proof IS NOT NULL) AS marks
   GROUP BY mark, number HAVING sum(by) <> 0`,
  tallyFault(tallyDialect),
  ...tables.map(
    ({ name }) => `SELECT 'numbers are missing in ${name}: ' || n || ' rows, the last number is ' || head."${name}"
      FROM head, (SELECT count(*) AS n, coalesce(max(number), 0) AS last FROM "${name}") AS found
      WHERE n <> head."${name}" OR last <> head."${name}"`,
  ),
];

/** The maintenance of a registry in PostgreSQL. */
export const databaseMaintenance = (registry: PostgresRegistry): StoreMaintenance => ({
  async openStore() {
    const [journalKey, ...otherJournalKeys] = (await registry.journalKeys()).toReversed();
    const { subjects, url, env } = registry;
    return openPostgresStore({ subjects, url, env, journalKey: journalKey!, otherJournalKeys });
  },
  async openReader() {
    await registry.subjects.loadPostgres();
    const keys = await registry.journalKeys();
    const connections = await connect(registry);
    const readers = new Readers(() => connections.reader());
    return {
      ...tableReads(registry.subjects, readers),
      ...journalReads(registry.subjects, keys, read => atOneMoment(connections, read)),
      close: async () => {
        await readers.close();
        await connections.close();
      },
    };
  },
  async check(anchors) {
    const keys = await registry.journalKeys();
    const connections = await connect(registry);
    try {
      return await atOneMoment(connections, rows =>
        checkRows(registry.subjects, rows, faults(registry.subjects), keys, anchors),
      );
    } finally {
      await connections.close();
    }
  },
});

/** Rejects if the database is not a registry of this version: reading must not change it. */
async function connect(registry: PostgresRegistry): Promise<Connections> {
  const login = loginFrom(registry);
  await beforeOpening(login, session => currentVersion(session, login.address));
  return new Connections({ login, primary: new Primary(login.address, Date.now) });
}

/** Runs reads in one transaction: others may write at the same time. */
async function atOneMoment<T>(connections: Connections, read: (rows: StoredRows) => Promise<T>): Promise<T> {
  const session = await connections.scanner();
  try {
    await session.runOnce('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    return await read(new PostgresRows(session));
  } finally {
    await session.close();
  }
}
