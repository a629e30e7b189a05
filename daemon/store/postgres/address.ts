/** Where a database is: its URL, and how the connection is encrypted. */

import { readFileSync } from 'node:fs';
import { type Env, isLoopbackName } from '../../../src/contract/local.ts';
import { StoreMisconfigured } from '../database.ts';

/** Options for TLS as node:tls takes them; false for a connection without TLS. */
type TlsChoice =
  | false
  | { readonly rejectUnauthorized: boolean; readonly ca?: string; readonly checkServerIdentity?: () => undefined };

/** A database of a server. */
export interface Address {
  /** Name or IP address; a folder with the server's Unix socket if it begins with `/`. */
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  readonly tls: TlsChoice;
  /** For messages: the URL, which has no password. */
  readonly text: string;
}

const DEFAULT_PORT = 5432;
const example = 'write it like postgres://devmgr@db.example.com:5432/devmgr';

/** Reads a URL. Throws `StoreMisconfigured` if it is malformed or contains a password. Messages do not repeat the URL: it may be secret. */
export function addressFrom(text: string, env: Env): Address {
  const url = parse(text);
  if (url.password !== '')
    throw new StoreMisconfigured(
      'the URL of the store contains a password, which other users of the machine can read',
      'remove it, and name a file with DEVMGR_STORE_PASSWORD_FILE, or use ~/.pgpass',
    );
  for (const name of url.searchParams.keys())
    if (name !== 'host')
      throw new StoreMisconfigured(`the URL of the store has an unknown parameter: ${name}`, 'only host is known');
  const host = url.searchParams.get('host') ?? decoded(url.hostname).replace(/^\[(.*)\]$/, '$1');
  const [user, database] = [decoded(url.username), decoded(url.pathname.slice(1))];
  if (host === '' || user === '' || database === '' || database.includes('/'))
    throw new StoreMisconfigured('the URL of the store needs a user, a host and a database', example);
  const port = url.port === '' ? DEFAULT_PORT : Number(url.port);
  const shown = `postgres://${user}@${host.startsWith('/') ? '' : `${host}:${port}`}/${database}`;
  return { host, port, database, user, tls: tlsFor(host, env), text: shown };
}

function parse(text: string): URL {
  // The class URL knows no empty host, which a Unix socket has.
  const withHost = text.replace(/^(postgres(?:ql)?:\/\/[^/@]*@)(?=[/:])/, '$1localhost');
  try {
    return new URL(withHost);
  } catch {
    throw new StoreMisconfigured('the URL of the store is malformed', example);
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new StoreMisconfigured('the URL of the store is malformed', example);
  }
}

const isLocal = (host: string) => host.startsWith('/') || isLoopbackName(host);

/** By default a connection over a network verifies certificate and name, as PGSSLMODE=verify-full; one on this machine is not encrypted. */
function tlsFor(host: string, env: Env): TlsChoice {
  const mode = env.PGSSLMODE || (isLocal(host) ? 'disable' : 'verify-full');
  const ca = env.PGSSLROOTCERT ? { ca: certificate(env.PGSSLROOTCERT) } : {};
  if (mode === 'disable' || host.startsWith('/')) return false;
  if (mode === 'verify-full') return { rejectUnauthorized: true, ...ca };
  if (mode === 'verify-ca') return { rejectUnauthorized: true, checkServerIdentity: () => undefined, ...ca };
  if (mode === 'require') return { rejectUnauthorized: false };
  throw new StoreMisconfigured(
    `PGSSLMODE=${mode} is not supported`,
    'write disable, require, verify-ca or verify-full',
  );
}

function certificate(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new StoreMisconfigured(
      `${file} (PGSSLROOTCERT) cannot be read`,
      'name a file with the certificate of the CA (PEM)',
    );
  }
}
