/**
 * Tokens of past logins. Each belongs to one profile and one server and is never sent to another: both are its key. The
 * keychain of the desktop stores the token if there is one, else a file that only this user can read.
 */
import { join } from 'node:path';
import { homeFiles } from '../../contract/local.ts';
import { withLock } from './file-lock.ts';
import { makeFolder, readJsonFile, writeJsonFile } from './files.ts';
import { keychain } from './keychain.ts';

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

interface CredentialsEntry {
  readonly expireTime: string;
  readonly username: string;
  readonly keeper: Keeper;
  /** Absent if the keychain has it. */
  readonly token?: string;
}

type CredentialsEntries = Readonly<Record<string, Readonly<Record<string, CredentialsEntry>>>>;

/** Whose logins: those of one profile in one home folder. */
interface Owner {
  readonly home: string;
  readonly profile: string;
}

const fileOf = (home: string) => join(home, homeFiles.credentials);
const account = ({ home, profile }: Owner, server: string) => `${profile}@${server} ${home}`;
const readEntries = (home: string) => (readJsonFile(fileOf(home)) ?? {}) as CredentialsEntries;

function entryOf(entries: CredentialsEntries, profile: string, server: string): CredentialsEntry | null {
  const ofProfile = Object.hasOwn(entries, profile) ? entries[profile]! : {};
  return Object.hasOwn(ofProfile, server) ? ofProfile[server]! : null;
}

/** Sets the entry of a login, or removes it if it is null. Processes that do so at the same time wait for each other. */
async function storeEntry({ home, profile }: Owner, server: string, entry: CredentialsEntry | null): Promise<void> {
  const file = fileOf(home);
  makeFolder(home);
  await withLock(`${file}.lock`, () => {
    const entries = readEntries(home);
    const { [server]: _, ...others } = entries[profile] ?? {};
    writeJsonFile(file, { ...entries, [profile]: entry === null ? others : { ...others, [server]: entry } });
  });
}

/** Names of the profiles with a login now or earlier. */
export const profilesWithLogin = (home: string): readonly string[] => Object.keys(readEntries(home));

/** The user who is logged in to a server, without the token; null if there is no login. */
export function readLoginName({ home, profile }: Owner, server: string): string | null {
  return entryOf(readEntries(home), profile, server)?.username ?? null;
}

/** The stored login; null if there is none, or the keychain does not give the token. */
export async function readLogin(owner: Owner, server: string): Promise<(Login & { keeper: Keeper }) | null> {
  const entry = entryOf(readEntries(owner.home), owner.profile, server);
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
  const entry: CredentialsEntry = inKeychain ? { ...others, keeper: 'keychain' } : { ...others, keeper: 'file', token };
  await storeEntry(owner, server, entry);
  return entry.keeper;
}

/** Removes a login; false if there was none. */
export async function forgetLogin(owner: Owner, server: string): Promise<boolean> {
  const entry = entryOf(readEntries(owner.home), owner.profile, server);
  if (!entry) return false;
  if (entry.keeper === 'keychain') await keychain.remove(account(owner, server));
  await storeEntry(owner, server, null);
  return true;
}
