/** What each profile has met: the identity of its servers, kept beside the logins and longer than them. */
import { join } from 'node:path';
import { isObject } from '../../contract/json-object.ts';
import { homeFiles } from '../../contract/local.ts';
import { withLock } from './file-lock.ts';
import { damaged, makeFolder, readJsonFile, writeJsonFile } from './files.ts';

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

/** Everything that is stored. Throws a fault for an entry of another shape: a server whose identity is lost must not count as new. */
function readAll(home: string): KnownServers {
  const all = readJsonFile(fileOf(home)) ?? {};
  const servers = Object.values(all).flatMap(profile => (isObject(profile) ? Object.values(profile) : [null]));
  if (!servers.every(isKnownServer))
    throw damaged(fileOf(home), 'it has an entry that is not the identity of a server');
  return all as KnownServers;
}

function isKnownServer(value: unknown): value is KnownServer {
  if (!isObject(value)) return false;
  const { instanceId, publicKey, direct } = value;
  return typeof instanceId === 'string' && typeof publicKey === 'string' && typeof direct === 'boolean';
}

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
