import { openTemporary } from '../support/sqlite.ts';
import { storeContract } from './store.ts';

storeContract('SQLite', () => openTemporary());
storeContract('SQLite (lists by plain SQL)', () => openTemporary({ plainLists: true }));
storeContract('SQLite (in the smallest pieces)', () => openTemporary({ sliceMs: 0 }));
storeContract('SQLite (lists out of memory from the first)', async () => {
  const opened = await openTemporary();
  await opened.store.listsReady;
  return opened;
});
