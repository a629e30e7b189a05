import ipaddr from 'ipaddr.js';
import { passwordLength } from '../../src/contract/limits.ts';
import { type DaemonRole, environment, type StepUpMode } from '../../src/contract/local.ts';
import type { S3Target } from '../blobs/s3/target.ts';
import type { ForwardTarget } from '../delivery/forwarding/target.ts';
import { isLoopbackName } from '../loopback.ts';
import type { FileBounds } from '../services/file-budget.ts';
import type { Limits } from '../services/limiter.ts';
import type { Cost } from '../services/passwords.ts';
import { StartRefused } from '../start-refused.ts';
import type { StoreTarget } from './store-target.ts';

/** How the daemon runs. */
export interface DaemonSettings {
  /** Folder of everything that the daemon stores. */
  readonly home: string;
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** Log as NDJSON on stdout instead of lines for people on stderr. */
  readonly json: boolean;
  readonly verbose: boolean;
  readonly role: DaemonRole;
  /** See `nodeFrom`; absent for the host name. */
  readonly node?: string | undefined;
  /** Seconds at a stop for which requests are served while the health reports that the daemon is not ready; 0 if absent. */
  readonly drain?: number | undefined;
  /** Whether to watch USB and PC/SC, if the role includes keys; tests of other things leave the hardware of the machine alone. */
  readonly hardware: boolean;
  readonly simulateKeys: number;
  /** Whether APDUs and reports are logged: not at all, with possible serial numbers masked, or in full. */
  readonly traffic: 'off' | 'masked' | 'full';
  /** Days after a login for which its token can be renewed. */
  readonly sessionDays: number;
  /** PEM files: both or neither. */
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
  /** Serve a network without TLS. */
  readonly insecureHttp: boolean;
  /** CIDRs of the proxies whose X-Forwarded-For header is trusted. */
  readonly trustProxy: readonly string[];
  /** Whether the console for browsers is served; absent: it is. */
  readonly console?: boolean;
  /** Additional host names under which clients may reach the daemon. */
  readonly allowHosts: readonly string[];
  /** Vendor or vendor:product ids (hex) of additional USB keys. */
  readonly ukeyMatch: readonly string[];
  /** Networks (CIDR), addresses and host names that webhooks may post to besides public addresses; none if absent. */
  readonly webhookAllow?: readonly string[] | undefined;
  /** Whether clients in the network may issue the keys of this machine; absent: they may not. */
  readonly remoteIssuing?: boolean | undefined;
  /** See `publicUrlFrom`; absent if none is set. */
  readonly publicUrl?: string | undefined;
  /** Sessions in which some operations need a recent sign-in; `console` if absent. */
  readonly stepUp?: StepUpMode | undefined;
  /** Where journal entries are forwarded to; absent if nowhere. */
  readonly forward?: ForwardTarget | undefined;
  readonly limits: Limits;
  readonly files: FileBounds;
  /** Where the registry is; absent for SQLite in the home. */
  readonly store?: StoreTarget | undefined;
  /** Folder of the keys; absent or null for the home. */
  readonly secrets?: string | null | undefined;
  /** Where files are stored; absent for the folder in the home. */
  readonly objectStore?: S3Target | undefined;
  readonly admin: { readonly username: string; readonly password: string | null };
  /** Cost of new password hashes; absent for the recommended one. Only tests set it: no flag and no variable does. */
  readonly passwordCost?: Cost | undefined;
}

/** Throws `StartRefused` if a setting belongs to what the role leaves out. */
export function checkRole({
  role,
  simulateKeys,
  ukeyMatch,
  objectStore,
  forward,
  store,
  secrets,
}: DaemonSettings): void {
  if (role === 'registry' && (simulateKeys > 0 || ukeyMatch.length > 0))
    throw new StartRefused(
      2,
      'a daemon with the role registry does not look for keys',
      'omit --simulate-keys and --ukey-match',
    );
  if (role === 'station' && (objectStore || forward || store || secrets))
    throw new StartRefused(
      2,
      'a daemon with the role station has no registry',
      'omit --store, --secrets, --files and --forward',
    );
}

/** Only for the first administrator: later the variable has no effect. Throws `StartRefused`. */
export function checkFirstPassword(password: string): void {
  const length = [...password].length;
  if (length < passwordLength.min || length > passwordLength.max)
    throw new StartRefused(
      2,
      `${environment.adminPassword} must have ${passwordLength.min} to ${passwordLength.max} characters`,
    );
}

/** Whether requests can come through a proxy. One that adds no header looks like a client on this machine. */
export function isBehindProxy({ trustProxy, allowHosts }: DaemonSettings): boolean {
  return trustProxy.length > 0 || allowHosts.length > 0;
}

/** Throws `StartRefused` if passwords and tokens would cross a network unencrypted, or if an address is not valid. */
export function checkNetwork(settings: DaemonSettings): void {
  if ((settings.tlsCert === undefined) !== (settings.tlsKey === undefined))
    throw new StartRefused(2, '--tls-cert and --tls-key must be given together');
  if (!isLoopbackName(settings.host) && !settings.tlsCert && !settings.insecureHttp)
    throw new StartRefused(
      2,
      `${settings.host} is not loopback: passwords would cross the network unencrypted`,
      'give --tls-cert and --tls-key, or --insecure-http behind a proxy that does TLS',
    );
  for (const cidr of settings.trustProxy)
    if (!ipaddr.isValidCIDR(cidr) && !ipaddr.isValid(cidr))
      throw new StartRefused(2, `--trust-proxy ${cidr} is neither an address nor a CIDR`, 'write it like 10.0.0.0/8');
}
