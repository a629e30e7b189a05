/** A registry with several addresses: the name of its login, and the identity that all of its addresses share. */
import { failure } from '../fault.ts';
import { readLoginName } from './credentials.ts';
import { type KnownServer, knownServers } from './known-servers.ts';
import type { Owner } from './server-entries.ts';

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

/** What a profile expects at an address of a list. Throws a fault if the list has addresses of different registries. */
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
