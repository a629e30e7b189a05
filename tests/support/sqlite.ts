import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore, type SqliteOptions, type SqliteStore } from '../../daemon/store/sqlite/index.ts';

export const journalKey = new Uint8Array(32).fill(7);

/** An SQLite store in a folder of its own, which goes with `cleanup`. */
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
    cleanup: async () => {
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
