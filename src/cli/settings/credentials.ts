/**
 * Tokens of past logins. Each belongs to one profile and one server and is never sent to another: both are its key. The
 * keychain of the desktop stores the token if there is one, else a file that only this user can read.
 */
import { isObject } from '../../contract/json-object.ts';
import { homeFiles } from '../../contract/local.ts';
import { keychain } from './keychain.ts';
import { type Owner, ServerEntries } from './server-entries.ts';

/** The server name of the daemon of this home: its port may change. */
export const localIdentity = 'local';

/** A login as the server granted it. */
export interface Login {
  readonly token: string;
  /** ISO 8601. */
  readonly expireTime: string;
  readonly username: string;
}

/** Where a token is stored. */
export type Keeper = 'keychain' | 'file';

interface Entry {
  readonly expireTime: string;
  readonly username: string;
  readonly keeper: Keeper;
  /** Absent if the keychain has it. */
  readonly token?: string;
}

const isEntry = (value: unknown): value is Entry => isObject(value) && typeof value.username === 'string';
const logins = new ServerEntries(homeFiles.credentials, 'a login', isEntry);
const account = ({ home, profile }: Owner, server: string) => `${profile}@${server} ${home}`;

/** Names of the profiles with a login now or earlier. */
export const profilesWithLogin = (home: string): readonly string[] => logins.profiles(home);

/** The user who is logged in to a server, without the token; null if there is no login. */
export const readLoginName = (owner: Owner, server: string): string | null =>
  logins.read(owner, server)?.username ?? null;

/** The stored login; null if there is none, or the keychain does not give the token. */
export async function readLogin(owner: Owner, server: string): Promise<(Login & { keeper: Keeper }) | null> {
  const entry = logins.read(owner, server);
  if (!entry) return null;
  const token = entry.token ?? (await keychain.read(account(owner, server)));
  return token === null
    ? null
    : { token, expireTime: entry.expireTime, username: entry.username, keeper: entry.keeper };
}

/** Stores a login and returns where the token is. `prefer` keeps a renewed token where the first one was. */
export async function storeLogin(
  owner: Owner,
  server: string,
  login: Login,
  prefer: Keeper = 'keychain',
): Promise<Keeper> {
  const inKeychain = prefer === 'keychain' && (await keychain.write(account(owner, server), login.token));
  const { token, ...others } = login;
  const entry: Entry = inKeychain ? { ...others, keeper: 'keychain' } : { ...others, keeper: 'file', token };
  await logins.store(owner, server, entry);
  return entry.keeper;
}

/** Removes a login; false if there was none. */
export async function forgetLogin(owner: Owner, server: string): Promise<boolean> {
  const entry = logins.read(owner, server);
  if (!entry) return false;
  if (entry.keeper === 'keychain') await keychain.remove(account(owner, server));
  await logins.store(owner, server, null);
  return true;
}
