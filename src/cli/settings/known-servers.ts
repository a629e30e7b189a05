/** What each profile has met: the identity of its servers, kept beside the logins and longer than them. */
import { isObject } from '../../contract/json-object.ts';
import { homeFiles } from '../../contract/local.ts';
import { ServerEntries } from './server-entries.ts';

/** The identity of a server at the first login. */
export interface KnownServer {
  readonly instanceId: string;
  /** SubjectPublicKeyInfo (DER) in base64url. */
  readonly publicKey: string;
  /** Whether nothing was between: the server named the address that was connected to. Not so behind a proxy or a tunnel. */
  readonly direct: boolean;
}

function isKnownServer(value: unknown): value is KnownServer {
  if (!isObject(value)) return false;
  const { instanceId, publicKey, direct } = value;
  return typeof instanceId === 'string' && typeof publicKey === 'string' && typeof direct === 'boolean';
}

/** The servers that each profile has met; none for a server without an identity. */
export const knownServers = new ServerEntries(homeFiles.knownServers, 'the identity of a server', isKnownServer);
