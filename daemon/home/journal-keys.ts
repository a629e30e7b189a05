/**
 * The keys of the journal: the current one, those that it has replaced, and one that is to replace it. Each is in a file of its
 * own, so that an earlier devmgr, which reads only `journal-key`, writes entries that later ones accept.
 */
import { randomBytes } from 'node:crypto';
import { StartRefused } from '../base/start-refused.ts';
import type { Home } from './home.ts';

/** The keys of a home. */
export interface JournalKeys {
  /** Authenticates new entries. */
  readonly current: Uint8Array;
  /** Verify the entries of their time; the oldest first. */
  readonly earlier: readonly Uint8Array[];
  /** Takes the place of the current one at the next opportunity; null if none is waiting. */
  readonly next: Uint8Array | null;
}

const KEY_BYTES = 32;

/** Reads the keys. Refuses with `StartRefused` if the current one is missing: with a new one, the journal would look forged. */
export async function journalKeys(home: Home): Promise<JournalKeys> {
  const current = await home.existingKey('journalKey');
  const [next = null] = await read(home, 'journalKeyNext');
  const earlier = await read(home, 'journalKeysEarlier');
  return {
    current,
    earlier: earlier.filter(key => !isSame(key, current)),
    // In a copy of the folder that was brought up to date, one that was used already can be left over.
    next: next && [current, ...earlier].some(key => isSame(next, key)) ? null : next,
  };
}

/** All keys, in the order of their use. */
export const allKeys = ({ current, earlier, next }: JournalKeys): readonly Uint8Array[] => [
  ...earlier,
  current,
  ...(next ? [next] : []),
];

/** Creates the key that is to replace the current one, unless one is waiting already. */
export async function prepareNextKey(home: Home): Promise<void> {
  if ((await journalKeys(home)).next === null) await write(home, 'journalKeyNext', [randomBytes(KEY_BYTES)]);
}

/** Makes the next key the current one, after the journal records this. An interruption at any point leaves every key in a file. */
export async function adoptNextKey(home: Home, { current, earlier, next }: JournalKeys): Promise<void> {
  if (!next) return;
  await write(home, 'journalKeysEarlier', [...earlier, current]);
  await write(home, 'journalKey', [next]);
  await home.remove('journalKeyNext');
}

const isSame = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

type KeyFile = 'journalKey' | 'journalKeyNext' | 'journalKeysEarlier';

async function read(home: Home, name: KeyFile): Promise<Uint8Array[]> {
  const lines = ((await home.readSecret(name)) ?? '').split('\n').filter(Boolean);
  const keys = lines.map(line => Buffer.from(line, 'base64url'));
  if (keys.some(key => key.length < KEY_BYTES))
    throw new StartRefused(1, `${home.path(name)} is damaged`, 'restore it from a backup of the home folder');
  return keys;
}

const write = (home: Home, name: KeyFile, keys: readonly Uint8Array[]): Promise<void> =>
  home.writeSecret(name, keys.map(key => `${Buffer.from(key).toString('base64url')}\n`).join(''));
