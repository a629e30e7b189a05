import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Env } from '../../../src/contract/local.ts';
import { privateText } from '../../base/private-file.ts';
import { type DatabaseAddress, StoreMisconfigured } from '../database.ts';
import { type Address, addressFrom } from './address.ts';
import type { DatabaseLogin } from './session.ts';

/** How to log in. Throws `StoreMisconfigured`. */
export function loginFrom({ url, env }: DatabaseAddress): DatabaseLogin {
  const address = addressFrom(url, env);
  return { address, password: passwordFor(address, env) };
}

/**
 * The password of the database, from a file of its own or else from a pgpass file; null if there is none. Throws
 * `StoreMisconfigured` if a file cannot be read or others can read it.
 */
export function passwordFor(address: Address, env: Env): string | null {
  const file = env.DEVMGR_STORE_PASSWORD_FILE;
  const misconfigured = (message: string, hint: string) => new StoreMisconfigured(message, hint);
  if (file) {
    const text = privateText(file, 'a password', env, misconfigured);
    if (text === null)
      throw new StoreMisconfigured(
        `${file} (DEVMGR_STORE_PASSWORD_FILE) does not exist`,
        'name a file with the password',
      );
    return text.split(/\r?\n/, 1)[0]!;
  }
  const pgpass = env.PGPASSFILE || join(homedir(), '.pgpass');
  const text = privateText(pgpass, 'a password', env, misconfigured);
  return text === null ? null : passwordIn(text, address);
}

/** The password of the first line `host:port:database:user:password` that fits; null if none does. `*` fits everything. */
export function passwordIn(pgpass: string, { host, port, database, user }: Address): string | null {
  // A Unix socket goes by the name localhost, as in libpq.
  const wanted = [host.startsWith('/') ? 'localhost' : host, String(port), database, user];
  for (const line of pgpass.split(/\r?\n/)) {
    if (line.startsWith('#')) continue;
    const fields = fieldsOf(line);
    if (fields.length < 5) continue;
    if (wanted.every((value, i) => fields[i] === '*' || fields[i] === value)) return fields.slice(4).join(':');
  }
  return null;
}

/** Splits at colons. A backslash takes the next character as it is. */
function fieldsOf(line: string): string[] {
  const fields: string[] = [];
  let field = '';
  for (let i = 0; i < line.length; i++) {
    if (line[i] === ':') {
      fields.push(field);
      field = '';
    } else field += line[i] === '\\' ? (line[++i] ?? '') : line[i];
  }
  return [...fields, field];
}
