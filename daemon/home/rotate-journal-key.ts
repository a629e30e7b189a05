import { rotateKey } from '../domain/journal.ts';
import type { Store } from '../store/store.ts';
import type { HeadKeeper } from './head-keeper.ts';
import type { Home } from './home.ts';
import { adoptNextKey, journalKeys } from './journal-keys.ts';

/**
 * Lets the journal continue with the key that is waiting, or with the current one if a restore has brought back a journal of an
 * earlier key. Does nothing if the journal has that key already. Can be repeated after an interruption at any point.
 */
export async function rotateJournalKey(parts: {
  readonly home: Home;
  readonly store: Store;
  readonly heads: HeadKeeper;
  readonly now: () => number;
}): Promise<void> {
  const { home, store, heads, now } = parts;
  const keys = await journalKeys(home);
  const key = keys.next ?? keys.current;
  // First the heads: they are read with the current key and the waiting one, never with an earlier one.
  if (keys.next) await heads.useKey(key);
  await store.commit({ at: now(), actor: null, requestId: null, changes: [rotateKey(key)] });
  if (!keys.next) return;
  await adoptNextKey(home, keys);
  await heads.write();
}
