import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkDatabase } from '../../daemon/store/sqlite/check.ts';
import { openSqliteReader } from '../../daemon/store/sqlite/reader.ts';
import { openSqliteStore, type SqliteOptions, type SqliteStore } from '../../daemon/store/sqlite/sqlite-store.ts';

export const journalKey = new Uint8Array(32).fill(7);

/** An SQLite store in its own folder; `cleanup` removes both. */
export async function openTemporary(options: Partial<SqliteOptions> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'devmgr-store-'));
  const file = join(folder, 'devmgr.db');
  let store: SqliteStore = await openSqliteStore({ file, journalKey, ...options });
  return {
    folder,
    file,
    store,
    reopen: async (other: Partial<SqliteOptions> = options) => {
      await store.close();
      store = await openSqliteStore({ file, journalKey, ...other });
      return store;
    },
    check: () => checkDatabase(file, journalKey),
    /** Reads the journal with this key beside the open store. */
    verifyJournal: async (key = journalKey) => {
      const reader = openSqliteReader(file, key);
      return reader.verifyJournal().finally(() => reader.close());
    },
    cleanup: async () => {
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
