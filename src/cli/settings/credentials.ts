/**
 * Tokens of past logins. Each belongs to one profile and one server, and is never sent to another: they are kept under
 * both names. The keychain of the desktop holds the token where there is one, else a file that only this user can read.
 */
import { join } from 'node:path';
import { homeFiles } from '../../contract/local.ts';
import { readJsonFile, writeJsonFile } from './files.ts';
import { keychain } from './keychain.ts';

/** Name under which the tokens of the daemon of this home are kept: its port may change. */
export const localIdentity = 'local';

export interface Login {
  readonly token: string;
  /** ISO 8601. */
  readonly expireTime: string;
  readonly username: string;
}

export type Keeper = 'keychain' | 'file';

interface Entry {
  readonly expireTime: string;
  readonly username: string;
  readonly keeper: Keeper;
  /** Absent where the keychain has it. */
  readonly token?: string;
}

type Entries = Record<string, Record<string, Entry>>;

/** Whose logins: those of one profile in one home folder. */
interface Owner {
  readonly home: string;
  readonly profile: string;
}

const fileOf = (home: string) => join(home, homeFiles.credentials);
const account = ({ home, profile }: Owner, identity: string) => `${profile}@${identity} ${home}`;

function entryOf(entries: Entries, profile: string, identity: string): Entry | null {
  const own = Object.hasOwn(entries, profile) ? entries[profile]! : {};
  return Object.hasOwn(own, identity) ? own[identity]! : null;
}

const readEntries = (home: string) => (readJsonFile(fileOf(home)) ?? {}) as Entries;

/** Names of the profiles under which somebody has logged in. */
export const profilesWithLogin = (home: string): readonly string[] => Object.keys(readEntries(home));

/** Who is logged in there, without the token. */
export function readLoginName({ home, profile }: Owner, identity: string): string | null {
  return entryOf(readEntries(home), profile, identity)?.username ?? null;
}

export async function readLogin(owner: Owner, identity: string): Promise<(Login & { keeper: Keeper }) | null> {
  const entry = entryOf(readEntries(owner.home), owner.profile, identity);
  if (!entry) return null;
  const token = entry.token ?? (await keychain.read(account(owner, identity)));
  return token === null
    ? null
    : { token, expireTime: entry.expireTime, username: entry.username, keeper: entry.keeper };
}

/** Says where the token went. `prefer` keeps a refreshed token where the first one is. */
export async function storeLogin(
  owner: Owner,
  identity: string,
  login: Login,
  prefer: Keeper = 'keychain',
): Promise<Keeper> {
  const { home, profile } = owner;
  const inKeychain = prefer === 'keychain' && (await keychain.write(account(owner, identity), login.token));
  const entries = readEntries(home);
  const { token, ...rest } = login;
  const entry: Entry = inKeychain ? { ...rest, keeper: 'keychain' } : { ...rest, keeper: 'file', token };
  writeJsonFile(fileOf(home), { ...entries, [profile]: { ...entries[profile], [identity]: entry } });
  return entry.keeper;
}

/** False where nobody was logged in. */
export async function forgetLogin(owner: Owner, identity: string): Promise<boolean> {
  const { home, profile } = owner;
  const entries = readEntries(home);
  const entry = entryOf(entries, profile, identity);
  if (!entry) return false;
  if (entry.keeper === 'keychain') await keychain.remove(account(owner, identity));
  const { [identity]: _, ...rest } = entries[profile] ?? {};
  writeJsonFile(fileOf(home), { ...entries, [profile]: rest });
  return true;
}
