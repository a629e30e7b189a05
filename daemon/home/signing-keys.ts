import { randomBytes } from 'node:crypto';
import { tokenSeconds } from '../../src/contract/limits.ts';
import type { Home } from './home.ts';
import { StartRefused } from './settings.ts';

/** Keys that tokens are checked with: the first signs; the others were replaced and serve until their last token has ended. */
export type SigningKeys = readonly [Uint8Array, ...Uint8Array[]];

interface KeptKey {
  readonly key: Buffer;
  /** Milliseconds since 1970; null for the one in use. */
  readonly replacedAt: number | null;
}

/** Reads the keys; makes the first one. The file has one key a line, an earlier one with the time it was replaced. */
export async function signingKeys(home: Home, now: number): Promise<SigningKeys> {
  const kept = (await read(home)).filter(
    ({ replacedAt }) => replacedAt === null || replacedAt + tokenSeconds * 1000 > now,
  );
  if (kept.length === 0) {
    const key = randomBytes(32);
    await write(home, [{ key, replacedAt: null }]);
    return [key];
  }
  return kept.map(({ key }) => key) as unknown as SigningKeys;
}

/** Puts a new key in front. Tokens of the earlier ones stay good until they expire. */
export async function rotateSigningKey(home: Home, now: number): Promise<void> {
  const earlier = (await read(home))
    .map(({ key, replacedAt }) => ({ key, replacedAt: replacedAt ?? now }))
    .filter(({ replacedAt }) => replacedAt + tokenSeconds * 1000 > now);
  await write(home, [{ key: randomBytes(32), replacedAt: null }, ...earlier]);
}

async function read(home: Home): Promise<KeptKey[]> {
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
        throw new StartRefused(1, `${home.path('signingKey')} is damaged`, 'remove it: everybody has to log in again');
      return { key, replacedAt };
    });
}

function write(home: Home, keys: readonly KeptKey[]): Promise<void> {
  const lines = keys.map(
    ({ key, replacedAt }) =>
      key.toString('base64url') + (replacedAt === null ? '' : ` ${new Date(replacedAt).toISOString()}`),
  );
  return home.writeSecret('signingKey', `${lines.join('\n')}\n`);
}
