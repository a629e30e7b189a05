import { randomBytes } from 'node:crypto';
import { tokenSeconds } from '../../src/contract/limits.ts';
import { StartRefused } from '../base/start-refused.ts';
import type { Home } from '../home/home.ts';
import { withSecrets } from '../home/secrets-lock.ts';
import { signingKeyRotated } from '../store/journal.ts';
import type { Store } from '../store/store.ts';

/**
 * Reads the keys; creates the first one. The file has one key per line, the current one first: the key, the time of its
 * replacement or `-`, the time of its creation. Earlier versions wrote no `-` and no time of creation.
 */
export async function signingKeys(home: Home, now: number): Promise<SigningKeys> {
  const [current, ...earlier] = await read(home);
  if (current) return [current, ...earlier.filter(key => endOfKey(key) > now)];
  // Another node may create it at the same time.
  await home.createSecret('signingKey', textOfKeys([newKey(now)]));
  const [first, ...others] = await read(home);
  return [first!, ...others];
}

/**
 * Adds a new key that signs from now on. Tokens that were signed with an earlier key before its replacement stay valid until
 * they expire; with `revokeNow` the earlier keys are removed, so that all their tokens are invalid.
 */
export async function rotateSigningKey(home: Home, now: number, { revokeNow = false } = {}): Promise<void> {
  const earlier = revokeNow
    ? []
    : (await read(home)).map(key => ({ ...key, replacedAt: key.replacedAt ?? now })).filter(key => endOfKey(key) > now);
  await write(home, [newKey(now), ...earlier]);
}

/**
 * Records in the journal that the key was replaced. Every daemon with the key calls this: the first one writes the entry. A store with one
 * handle at a time has one daemon.
 */
export async function enterSigningKey(home: Home, store: Store, keys: SigningKeys, now: number): Promise<void> {
  await withSecrets(home, async () => {
    const since = keys[0].createdAt;
    const isShared = store.shortLived !== undefined && since !== null;
    if (isShared && (await isEntered(store, since))) return;
    const changes = [signingKeyRotated(keys.length === 1)];
    await store.commit({ at: now, actor: null, requestId: null, changes });
  });
}

async function isEntered(store: Store, since: number): Promise<boolean> {
  const latest = { after: 0, before: Number.MAX_SAFE_INTEGER, limit: 1 };
  return (await store.events({ ...latest, types: ['SIGNING_KEY_ROTATED'], from: since })).length > 0;
}

const newKey = (now: number): SigningKey => ({ key: randomBytes(32), createdAt: now, replacedAt: null });

async function read(home: Home): Promise<SigningKey[]> {
  const text = await home.readSecret('signingKey');
  if (text === null) return [];
  const keys = text
    .split('\n')
    .filter(Boolean)
    .map(line => {
      const [encoded, replaced = '-', created = '-'] = line.split(' ');
      return { key: Buffer.from(encoded!, 'base64url'), replacedAt: timeOf(replaced), createdAt: timeOf(created) };
    });
  const isDamaged = keys.some(
    ({ key, replacedAt, createdAt }, index) =>
      key.length < 32 || Number.isNaN(replacedAt) || Number.isNaN(createdAt) || (replacedAt === null) !== (index === 0),
  );
  if (isDamaged)
    throw new StartRefused(1, `${home.path('signingKey')} is damaged`, 'remove it: all users must log in again');
  return keys;
}

const timeOf = (text: string): number | null => (text === '-' ? null : Date.parse(text));
const textOf = (time: number | null): string => (time === null ? '-' : new Date(time).toISOString());

const write = (home: Home, keys: SigningKeys): Promise<void> => home.writeSecret('signingKey', textOfKeys(keys));

const textOfKeys = (keys: SigningKeys): string =>
  keys
    .map(
      ({ key, replacedAt, createdAt }) =>
        `${Buffer.from(key).toString('base64url')} ${textOf(replacedAt)} ${textOf(createdAt)}\n`,
    )
    .join('');

/** A key that signs tokens, or did so until it was replaced. Times are milliseconds since 1970. */
export interface SigningKey {
  readonly key: Uint8Array;
  /** Null if it is unknown: earlier versions did not store it. */
  readonly createdAt: number | null;
  /** Null for the current key. */
  readonly replacedAt: number | null;
}

/** The current key, which signs, and the earlier ones, whose tokens are still checked. */
export type SigningKeys = readonly [SigningKey, ...SigningKey[]];

/** Milliseconds since 1970 from which a token of a key is never valid; infinite for the current key. */
export const endOfKey = ({ replacedAt }: SigningKey): number =>
  replacedAt === null ? Number.POSITIVE_INFINITY : replacedAt + tokenSeconds * 1000;

/**
 * Milliseconds by which the issue time of a token may lie outside the time of its key. `iat` has whole seconds, and a running
 * daemon signs with the replaced key until the signal has reached it and the file is read; that takes milliseconds. All times
 * are of one clock. More tolerance would only help a forger.
 */
const KEY_TOLERANCE_MS = 2000;

/** Whether the key was the current one at a time in seconds since 1970. */
export function wasCurrent({ createdAt, replacedAt }: SigningKey, seconds: number): boolean {
  const at = seconds * 1000;
  return (
    (createdAt === null || at >= createdAt - KEY_TOLERANCE_MS) &&
    (replacedAt === null || at <= replacedAt + KEY_TOLERANCE_MS)
  );
}
