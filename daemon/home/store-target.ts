import { environment } from '../../src/contract/local.ts';
import { StartRefused } from './settings.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** A registry outside the home folder. */
export interface StoreTarget {
  /** postgres://user@host:port/database. Not verified here. */
  readonly url: string;
  /** The variables that say how to connect: PGSSLMODE, the file with the password and others. */
  readonly env: Env;
}

/** Where the registry is, as the flag `--store` or else the environment says; null for SQLite in the home. Refuses an unknown scheme. */
export function storeTarget(given: string | null, env: Env): StoreTarget | null {
  const url = given ?? env[environment.store] ?? '';
  if (url === '' || url === 'sqlite:') return null;
  if (/^postgres(?:ql)?:\/\//.test(url)) return { url, env };
  // The text may contain a password.
  const scheme = /^[a-z][a-z0-9+.-]{0,30}(?=:)/i.exec(url)?.[0];
  throw new StartRefused(
    2,
    scheme ? `--store does not know the scheme ${scheme}` : '--store is not a URL',
    'write sqlite: or postgres://USER@HOST:PORT/DATABASE',
  );
}
