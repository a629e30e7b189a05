import { randomBytes } from 'node:crypto';
import { tokenSeconds } from '../../src/contract/limits.ts';
import type { Home } from './home.ts';
import { StartRefused } from './settings.ts';

/** The keys that tokens are checked with. The first one signs; the others were replaced and stay until their last token expires. */
export type SigningKeys = readonly [Uint8Array, ...Uint8Array[]];

interface StoredKey {
  readonly key: Buffer;
  /** Milliseconds since 1970; null for the key in use. */
  readonly replacedAt: number | null;
}

/** Reads the keys; creates the first one. The file has one key per line, replaced keys with the time of their replacement. */
export async function signingKeys(home: Home, now: number): Promise<SigningKeys> {
  const stored = (await read(home)).filter(
    ({ replacedAt }) => replacedAt === null || replacedAt + tokenSeconds * 1000 > now,
  );
  if (stored.length === 0) {
    const key = randomBytes(32);
    await write(home, [{ key, replacedAt: null }]);
    return [key];
  }
  return stored.map(({ key }) => key) as unknown as SigningKeys;
}

/** Adds a new key that signs from now on. Tokens signed with earlier keys stay valid until they expire. */
export async function rotateSigningKey(home: Home, now: number): Promise<void> {
  const earlier = (await read(home))
    .map(({ key, replacedAt }) => ({ key, replacedAt: replacedAt ?? now }))
    .filter(({ replacedAt }) => replacedAt + tokenSeconds * 1000 > now);
  await write(home, [{ key: randomBytes(32), replacedAt: null }, ...earlier]);
}

async function read(home: Home): Promise<StoredKey[]> {
  const text = await home.readSecret('signingKey');
  if (text === null) return [];
  return text
    .split('\n')
    .filter(Boolean)
    .map(line => {
      const [encoded, replaced] = line.split(' ');
      const key = Buffer.from(encoded!, 'base64url');
      const replacedAt = replaced === undefined ? null : Date.parse(replaced);
      if (key.length < 32 || Number.isNaN(replacedAt))
        throw new StartRefused(1, `${home.path('signingKey')} is damaged`, 'remove it: all users must log in again');
      return { key, replacedAt };
    });
}

function write(home: Home, keys: readonly StoredKey[]): Promise<void> {
  const lines = keys.map(
    ({ key, replacedAt }) =>
      key.toString('base64url') + (replacedAt === null ? '' : ` ${new Date(replacedAt).toISOString()}`),
  );
  return home.writeSecret('signingKey', `${lines.join('\n')}\n`);
}
