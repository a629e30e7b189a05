/** What each profile has met: the identity of its servers, kept beside the logins and longer than them. */
import { join } from 'node:path';
import { homeFiles } from '../../contract/local.ts';
import { withLock } from './file-lock.ts';
import { makeFolder, readJsonFile, writeJsonFile } from './files.ts';

/** The identity of a server at the first login. */
export interface KnownServer {
  readonly instanceId: string;
  /** SubjectPublicKeyInfo (DER) in base64url. */
  readonly publicKey: string;
  /** Whether nothing was between: the server named the address that was connected to. Not so behind a proxy or a tunnel. */
  readonly direct: boolean;
}

type KnownServers = Readonly<Record<string, Readonly<Record<string, KnownServer>>>>;

const fileOf = (home: string) => join(home, homeFiles.knownServers);
const readAll = (home: string) => (readJsonFile(fileOf(home)) ?? {}) as KnownServers;

/** The server that a profile has met at an address; null if there was no login yet, or the server had no identity. */
export function readKnownServer(home: string, profile: string, server: string): KnownServer | null {
  const all = readAll(home);
  const known = Object.hasOwn(all, profile) ? all[profile]! : {};
  return Object.hasOwn(known, server) ? known[server]! : null;
}

/** Stores the identity of a server. Processes that do so at the same time wait for each other. */
export async function storeKnownServer(
  home: string,
  profile: string,
  server: string,
  known: KnownServer,
): Promise<void> {
  const file = fileOf(home);
  makeFolder(home);
  await withLock(`${file}.lock`, () => {
    const all = readAll(home);
    writeJsonFile(file, { ...all, [profile]: { ...all[profile], [server]: known } });
  });
}
