import { checkRows, journalReads } from '../check.ts';
import type { StoredRows } from '../copy.ts';
import type { KeyedRegistry } from '../database.ts';
import type { StoreMaintenance } from '../maintenance.ts';
import type { Subjects } from '../subjects.ts';
import { Connections } from './connections.ts';
import { loginFrom } from './login.ts';
import { beforeOpening, currentVersion } from './migrate.ts';
import { openPostgresStore } from './postgres-store.ts';
import { Primary } from './primary.ts';
import { Readers } from './readers.ts';
import { tableReads } from './reads.ts';
import { PostgresRows } from './rows.ts';

/** Queries that return a text for each fault. */
const faults = (subjects: Subjects): readonly string[] => [
  ...subjects.stated('postgres').flatMap(one => one.faults ?? []),
  ...subjects.tables.map(
    ({ name }) => `SELECT 'numbers are missing in ${name}: ' || n || ' rows, the last number is ' || head."${name}"
      FROM head, (SELECT count(*) AS n, coalesce(max(number), 0) AS last FROM "${name}") AS found
      WHERE n <> head."${name}" OR last <> head."${name}"`,
  ),
];

/** The maintenance of a registry in PostgreSQL. */
export const databaseMaintenance = (registry: KeyedRegistry): StoreMaintenance => ({
  async openStore() {
    const [journalKey, ...otherJournalKeys] = (await registry.journalKeys()).toReversed();
    const { subjects, url, env } = registry;
    return openPostgresStore({ subjects, url, env, journalKey: journalKey!, otherJournalKeys });
  },
  async openReader() {
    await registry.subjects.load('postgres');
    const keys = await registry.journalKeys();
    const connections = await connect(registry);
    const readers = new Readers(length => connections.reader(length));
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
    await registry.subjects.load('postgres');
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
async function connect(registry: KeyedRegistry): Promise<Connections> {
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
