import { HeadKeeper } from '../home/head-keeper.ts';
import { journalKeys } from '../home/journal-keys.ts';
import { storeMaintenance } from '../start/store-engine.ts';
import type { Store } from '../store/store.ts';
import type { ExistingRegistry } from './maintenance.ts';

/**
 * Opens the registry for writing, and signs the head of its journal afterwards. The caller holds the lock of the home. `warn`
 * receives lines for the person who runs the program.
 */
export async function writeRegistry<T>(
  { home, target }: ExistingRegistry,
  warn: (message: string) => void,
  use: (store: Store, heads: HeadKeeper) => Promise<T>,
): Promise<T> {
  const store = await storeMaintenance(target, home).openStore();
  try {
    const heads = await HeadKeeper.start({ home, store, keys: () => journalKeys(home), now: Date.now, warn });
    try {
      return await use(store, heads);
    } finally {
      await heads.stop();
    }
  } finally {
    await store.close();
  }
}
