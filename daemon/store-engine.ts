/** The only place that chooses the engine of the store: SQLite, in the home folder. */
import type { Home } from './home/home.ts';
import { allKeys, journalKeys } from './home/journal-keys.ts';
import type { StoreMaintenance } from './store/maintenance.ts';
import { openSqliteStore, SqliteMaintenance } from './store/sqlite/index.ts';
import type { Store } from './store/store.ts';

/** Opens the registry of a home; creates it, and the key of its journal, if there is none. `notice` receives lines for the log. */
export async function openStore(home: Home, notice: (message: string) => void): Promise<Store> {
  await home.secretKey('journalKey');
  const [journalKey, ...otherJournalKeys] = allKeys(await journalKeys(home)).toReversed();
  return openSqliteStore({ file: home.path('database'), journalKey: journalKey!, otherJournalKeys, notice });
}

/** Work on the existing registry of a home. The key of its journal must exist: a new one would make the journal look forged. */
export function storeMaintenance(home: Home): StoreMaintenance {
  return new SqliteMaintenance({
    file: home.path('database'),
    journalKeys: async () => allKeys(await journalKeys(home)),
  });
}
