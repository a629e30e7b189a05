/** Which addresses the daemon posts to. A person who may create a webhook must not reach what only the machine of the daemon can reach. */
import { type LookupAddress, type LookupAllOptions, lookup as systemLookup } from 'node:dns';
import { isIP, isIPv6, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { daemonSettings } from '../../src/contract/daemon-settings.ts';
import { hostOf, insideOf, isCidr } from './networks.ts';
import { StartRefused } from './start-refused.ts';

/** Resolves a name, as `lookup` of node:dns. Tests replace it. */
export type Resolve = (
  host: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Milliseconds that the first look at a name may take. */
const RESOLVE_MS = 3000;

const hostName = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_][a-z0-9_-]{0,62})*$/;

/** A name has an address that is not allowed. */
export class AddressNotAllowed extends Error {}

/** Names and networks to which http and special addresses are allowed, besides public addresses over https. */
export class AllowedTargets {
  readonly #names: ReadonlySet<string>;
  readonly #isInside: (address: string) => boolean;
  readonly #hasNetworks: boolean;
  readonly #lookup: Resolve;
  readonly #internal: string | null;

  /**
   * Each entry is a network (CIDR), an address or a host name. Throws `StartRefused` for anything else. `internal`: its host may also be in
   * networks of an organization, because an administrator has named it.
   */
  constructor(entries: readonly string[], lookup: Resolve = systemLookup, internal: URL | null = null) {
    this.#internal = internal && plainHost(internal);
    const networks: string[] = [];
    const names = new Set<string>();
    for (const entry of entries) {
      if (isCidr(entry)) networks.push(entry);
      else if (isIP(entry) !== 0 && !entry.includes('%')) networks.push(`${entry}/${isIPv6(entry) ? 128 : 32}`);
      else if (hostName.test(entry.toLowerCase())) names.add(entry.toLowerCase());
      else throw malformed(entry);
    }
    this.#names = names;
    this.#isInside = insideOf(networks);
    this.#hasNetworks = networks.length > 0;
    this.#lookup = lookup;
  }

  /** Fault of a URL, in words that follow "url "; null if there is none. The name is not resolved. */
  problemOf(url: URL): string | null {
    if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must start with https://';
    if (url.username !== '' || url.password !== '') return 'must not contain a user name or a password';
    const host = plainHost(url);
    if (isIP(host) !== 0) return this.problemOfAddress(host, url);
    if (this.#names.has(host) || host === this.#internal) return null;
    if (host === 'localhost' || host.endsWith('.localhost')) return `must not name this machine (${host})${advice}`;
    return url.protocol === 'http:' && !this.#hasNetworks ? noTls : null;
  }

  /** Like `problemOf`, also for the addresses that the name has now. A name that cannot be resolved in time is not a problem yet. */
  async resolve(url: URL): Promise<string | null> {
    const problem = this.problemOf(url);
    const host = plainHost(url);
    if (problem !== null || isIP(host) !== 0) return problem;
    return new Promise(done => {
      const timer = setTimeout(() => done(null), RESOLVE_MS);
      this.#lookup(host, { all: true }, (error, addresses) => {
        clearTimeout(timer);
        done(error ? null : this.#problemOfAll(addresses, url));
      });
    });
  }

  #problemOfAll(addresses: readonly LookupAddress[], url: URL): string | null {
    return addresses.map(({ address }) => this.problemOfAddress(address, url)).find(found => found !== null) ?? null;
  }

  /** Fault of an address that the name in a URL has; null if there is none. */
  problemOfAddress(address: string, url: URL): string | null {
    const host = plainHost(url);
    if (this.#names.has(host) || this.#isInside(address)) return null;
    if (host === this.#internal && isOfOrganization(address)) return null;
    if (url.protocol === 'http:') return noTls;
    if (isPublic(address)) return null;
    const where = address === host ? address : `${host}, which is ${address}`;
    return `must not name ${where}: it is not a public address${advice}`;
  }

  /** Resolves the name in a URL, and fails unless all of its addresses are allowed: the connection then uses one of them. */
  lookupFor(url: URL): LookupFunction {
    return (host, options, done) => {
      this.#lookup(host, { ...options, all: true }, (error, addresses) => {
        if (error) return done(error, '', 0);
        const problem = this.#problemOfAll(addresses, url);
        if (problem !== null) return done(new AddressNotAllowed(`the address ${problem}`), '', 0);
        if (options.all) return done(null, addresses);
        const [first] = addresses;
        return first ? done(null, first.address, first.family) : done(new Error(`${host} has no address`), '', 0);
      });
    };
  }
}

const advice = '; the operator of the daemon can allow it with --webhook-allow';
const noTls = `must start with https://${advice}`;

const malformed = (entry: string) =>
  new StartRefused(
    2,
    `--webhook-allow or ${daemonSettings.webhookAllow.variable}: ${JSON.stringify(entry)} is neither a network, an address nor a host name`,
    'write them like 10.20.0.0/16 or hooks.internal',
  );

/** The host of a URL in lower case, a name without the dot of the root. */
const plainHost = (url: URL): string => hostOf(url).replace(/\.$/, '').toLowerCase();

/**
 * Addresses of cloud hosts that are public by the registries and lead to services for the machine itself. The others are special addresses
 * (169.254.169.254, 100.100.100.200, 192.0.0.192, fd00:ec2::254, fd20:ce::254).
 * - 168.63.129.16: the platform of Azure, which has secrets of the machine
 *   (learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16)
 * - 161.26.0.0/16 and 166.8.0.0/14: services of IBM Cloud (cloud.ibm.com/docs/vpc?topic=vpc-service-endpoints-for-vpc)
 */
const isOfCloudHost = insideOf(['168.63.129.16/32', '161.26.0.0/16', '166.8.0.0/14']);

/** Addresses in ranges of organizations at which clouds serve secrets of the machine: Alibaba, AWS and Google over IPv6. */
const isMetadata = insideOf(['100.100.100.200/32', 'fd00:ec2::254/128', 'fd20:ce::254/128']);
const ORGANIZATION: readonly string[] = ['private', 'uniqueLocal', 'carrierGradeNat', 'loopback'];

/** Whether an address belongs to this machine or to networks of an organization. */
const isOfOrganization = (address: string): boolean =>
  ipaddr.isValid(address) &&
  !address.includes('%') &&
  !isMetadata(address) &&
  ORGANIZATION.includes(ipaddr.parse(address).range());

/** Whether an address belongs to the public internet: the registries of special addresses (RFC 6890) do not list it. */
function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address) || address.includes('%')) return false;
  if (isOfCloudHost(address)) return false;
  const parsed = ipaddr.parse(address);
  // Global unicast of IPv6 is 2000::/3; everything else, also IPv4 in IPv6, can lead elsewhere.
  return parsed.range() === 'unicast' && (!(parsed instanceof ipaddr.IPv6) || parsed.parts[0]! >> 13 === 1);
}

/** The entries that `given` or else the environment has, with commas between them. */
export function webhookAllowFrom(
  given: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const entries = given.length > 0 ? given : (env[daemonSettings.webhookAllow.variable] ?? '').split(',');
  const all = entries.map(entry => entry.trim()).filter(Boolean);
  void new AllowedTargets(all);
  return all;
}
