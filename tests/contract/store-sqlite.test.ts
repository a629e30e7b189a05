import { openTemporary } from '../support/sqlite.ts';
import { storeContract } from './store.ts';

storeContract('SQLite', () => openTemporary());
storeContract('SQLite (lists with plain SQL)', () => openTemporary({ plainLists: true }));
storeContract('SQLite (shortest time slices)', () => openTemporary({ sliceMs: 0 }));
storeContract('SQLite (lists from memory)', async () => {
  const opened = await openTemporary();
  await opened.store.listsReady;
  return opened;
});
