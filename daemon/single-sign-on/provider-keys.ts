/** The keys that a provider signs with. They are read again after ten minutes, and when a token names an unknown one. */
import { createLocalJWKSet, errors, type JWK, type JWTVerifyGetKey } from 'jose';
import { ProviderAway } from '../base/errors.ts';
import type { ProviderFetch } from '../base/fetch.ts';
import { KeptRead } from './kept-read.ts';

const MAX_KEYS = 100;

/** `now`: milliseconds since 1970. */
export function providerKeys(url: string, fetch: ProviderFetch, now: () => number): JWTVerifyGetKey {
  const known = new KeptRead(async () => createLocalJWKSet(await keysAt(url, fetch)), now);
  return async (header, token) => {
    try {
      return await (await known.get())(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      // If the keys cannot be read now, the token may be genuine: strangers who use up the reads must end no session.
      return (await known.again())(header, token);
    }
  };
}

/** Reads the keys. `date`: the header of the response. Rejects with `ProviderAway`. */
export async function keysAt(
  url: string,
  fetch: ProviderFetch,
): Promise<{ readonly keys: JWK[]; readonly date: string | null }> {
  const response = await fetch(url, {
    method: 'GET',
    headers: { accept: 'application/json' },
    body: null,
    redirect: 'manual',
  });
  const body = (await response.json().catch(() => null)) as { keys?: unknown } | null;
  const keys = body?.keys;
  if (response.status !== 200 || !Array.isArray(keys)) throw new ProviderAway('the provider shows no keys');
  if (keys.length === 0 || keys.length > MAX_KEYS) throw new ProviderAway(`the provider shows ${keys.length} keys`);
  return { keys, date: response.headers.get('date') };
}
