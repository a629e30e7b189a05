import { keyDigest } from '../store/digest.ts';
import type { JournalRotate } from '../store/journal.ts';
import type { Store } from '../store/store.ts';
import { HeadFile } from './head-file.ts';
import type { HeadKeeper } from './head-keeper.ts';
import type { Home } from './home.ts';
import { adoptNextKey, journalKeys } from './journal-keys.ts';
import { withSecrets } from './secrets-lock.ts';

/**
 * Lets the journal continue with the key that is waiting, or with the current one if a restore has brought back a journal of an
 * earlier key. Does nothing if the journal has that key already. Can be repeated after an interruption at any point. Several daemons
 * that share the secrets do it one after the other: the keys are read again within the lock, so that none goes back to an earlier key.
 */
export async function rotateJournalKey(parts: {
  readonly home: Home;
  readonly store: Store;
  readonly heads: HeadKeeper;
  readonly now: () => number;
  /** False leaves a waiting key, and with it the journal, as they are: it waits until all machines have it. */
  readonly takeNext: boolean;
}): Promise<void> {
  const { home, store, heads, now, takeNext } = parts;
  await withSecrets(home, async () => {
    const keys = await journalKeys(home);
    if (keys.next && !takeNext) return;
    const key = keys.next ?? keys.current;
    // First the heads: they are read with the current key and the waiting one, never with an earlier one.
    if (keys.next) await (await HeadFile.open(home, keys)).useKey(key);
    const entry = { type: 'JOURNAL_KEY_ROTATED', detail: { key: keyDigest(key) } } as const;
    const change: JournalRotate = { kind: 'journal.rotate', key, entry };
    await store.commit({ at: now(), actor: null, requestId: null, changes: [change] });
    if (keys.next) await adoptNextKey(home, keys);
  });
  await heads.write();
}
