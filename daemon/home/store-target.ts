import { join, resolve } from 'node:path';
import { daemonSettings } from '../../src/contract/daemon-settings.ts';
import { type Env, homeFiles } from '../../src/contract/local.ts';
import { StartRefused } from '../base/start-refused.ts';

/** A registry outside the home folder. */
export interface StoreTarget {
  /** postgres://user@host:port/database. Not verified here. */
  readonly url: string;
  /** The variables that say how to connect: PGSSLMODE, the file with the password and others. */
  readonly env: Env;
}

/** A registry alone: a database, or an SQLite file. */
export type RegistryPlace = StoreTarget | { readonly file: string };

/** The registry that a flag names: `sqlite:` is the one in the home. Refuses an unknown scheme. */
export function registryPlace(flag: string, url: string, home: string, env: Env): RegistryPlace {
  const file = /^sqlite:(?:\/\/)?(.*)$/s.exec(url)?.[1];
  if (file !== undefined) return { file: file === '' ? join(home, homeFiles.database) : resolve(file) };
  return storeTarget(url === '' ? '-' : url, env, flag)!;
}

/** Location of the registry by `--store`, else by the environment; null for SQLite in the home. Refuses an unknown scheme. */
export function storeTarget(given: string | null, env: Env, flag = '--store'): StoreTarget | null {
  const url = given ?? env[daemonSettings.store.variable] ?? '';
  if (url === '' || url === 'sqlite:') return null;
  if (/^postgres(?:ql)?:\/\//.test(url)) return { url, env };
  // The text may contain a password.
  const scheme = /^[a-z][a-z0-9+.-]{0,30}(?=:)/i.exec(url)?.[0];
  throw new StartRefused(
    2,
    scheme ? `${flag} does not know the scheme ${scheme}` : `${flag} is not a URL`,
    'write sqlite: or postgres://USER@HOST:PORT/DATABASE',
  );
}
