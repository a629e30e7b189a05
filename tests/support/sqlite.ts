import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { subjects } from '../../daemon/start/subjects.ts';
import { checkDatabase } from '../../daemon/store/sqlite/check.ts';
import { openSqliteReader } from '../../daemon/store/sqlite/reader.ts';
import { openSqliteStore, type SqliteOptions, type SqliteStore } from '../../daemon/store/sqlite/sqlite-store.ts';

export const journalKey = new Uint8Array(32).fill(7);

/** The file of a store without entries: to write a copy takes a third of the processor time of the migrations. */
let newFile: Promise<Buffer> | undefined;

async function makeNewFile(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'devmgr-store-'));
  const file = join(folder, 'devmgr.db');
  await (await openSqliteStore({ subjects, file, journalKey })).close();
  const bytes = await readFile(file);
  await rm(folder, { recursive: true });
  return bytes;
}

/** An SQLite store in its own folder; `cleanup` removes both. */
export async function openTemporary(options: Pick<SqliteOptions, 'plainLists' | 'sliceMs'> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'devmgr-store-'));
  const file = join(folder, 'devmgr.db');
  newFile ??= makeNewFile();
  await writeFile(file, await newFile, { mode: 0o600 });
  let store: SqliteStore = await openSqliteStore({ subjects, file, journalKey, ...options });
  return {
    folder,
    file,
    store,
    reopen: async (other: Partial<SqliteOptions> = options) => {
      await store.close();
      store = await openSqliteStore({ subjects, file, journalKey, ...other });
      return store;
    },
    check: () => checkDatabase(subjects, file, journalKey),
    /** Reads the journal with this key beside the open store. */
    verifyJournal: async (key = journalKey) => {
      const reader = openSqliteReader(subjects, file, key);
      return reader.verifyJournal().finally(() => reader.close());
    },
    cleanup: async () => {
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
