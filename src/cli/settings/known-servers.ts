/**
 * The identity of the servers that each profile has met, kept longer than its logins. All addresses of a registry with
 * several share one identity, and the name of a login.
 */
import { isObject } from '../../contract/json-object.ts';
import { homeFiles } from '../../contract/local.ts';
import { failure } from '../fault.ts';
import { readLoginName } from './credentials.ts';
import { type Owner, ServerEntries } from './server-entries.ts';

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

/**
 * The address whose name a list has, so that login and cursors survive another order and an added address: the first one in
 * alphabetical order with a login, else with a known server, else of all.
 */
export function listIdentity(owner: Owner, addresses: readonly string[]): string {
  const sorted = addresses.toSorted();
  return (
    sorted.find(address => readLoginName(owner, address) !== null) ??
    sorted.find(address => knownServers.read(owner, address) !== null) ??
    sorted[0]!
  );
}

/** The identity that a server at an address of a list must have. */
export interface ExpectedServer {
  /** Null if no address has been met. */
  readonly known: KnownServer | null;
  /** Whether this address has been met, not only others of the list. */
  readonly isMet: boolean;
}

/** Server that a profile expects at an address of a list. Throws a fault if the list has addresses of different registries. */
export function expectedAt(owner: Owner, addresses: readonly string[], address: string): ExpectedServer {
  const met = addresses.flatMap(other => {
    const known = knownServers.read(owner, other);
    return known === null ? [] : [{ address: other, known }];
  });
  demandOneRegistry(met);
  const own = met.find(entry => entry.address === address);
  // Whether something is between the client and the server differs from address to address.
  const shared = met[0] ? { ...met[0].known, direct: false } : null;
  return { known: own?.known ?? shared, isMet: own !== undefined };
}

/** An address, and who was met there. */
export interface Met {
  readonly address: string;
  /** Null if the server has no identity: an earlier version. */
  readonly known: KnownServer | null;
}

/** Throws a fault if two of the addresses belong to different registries. */
export function demandOneRegistry(met: readonly Met[]): void {
  const [first] = met;
  const other = met.find(({ known }) => known?.publicKey !== first!.known?.publicKey);
  if (!first || !other) return;
  throw failure(
    `${first.address} and ${other.address} are different registries (${nameOf(first)} and ${nameOf(other)}). Nothing secret was sent`,
    'name only addresses of one registry with --server; after a reinstallation log in with --accept-new-server',
  );
}

const nameOf = ({ known }: Met): string => (known === null ? 'no identity' : `instance ${known.instanceId}`);
