import { hostname } from 'node:os';
import { resolve } from 'node:path';
import ipaddr from 'ipaddr.js';
import { Type } from 'typebox';
import {
  fileBounds,
  type Limit,
  type LimitScope,
  passwordLength,
  rateLimits,
  sessionDays,
} from '../../src/contract/limits.ts';
import {
  type DaemonRole,
  daemonRoles,
  type Env,
  environment,
  maxDrainSeconds,
  type StepUpMode,
} from '../../src/contract/local.ts';
import { username } from '../../src/contract/users.ts';
import { compileReader } from '../../src/contract/validate.ts';
import type { S3Target } from '../blobs/s3/target.ts';
import { isLoopbackName } from '../loopback.ts';
import type { FileBounds } from '../services/file-budget.ts';
import type { Limits } from '../services/limiter.ts';
import type { Cost } from '../services/passwords.ts';
import { StartRefused } from '../start-refused.ts';
import type { ForwardTarget } from './forward-target.ts';
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

/** The settings from the environment. Throws `StartRefused` if a variable is malformed. */
export function settingsFromEnvironment(
  env: Env,
): Pick<DaemonSettings, 'limits' | 'files' | 'admin' | 'traffic' | 'sessionDays'> {
  return {
    limits: limitsFrom(env),
    files: fileBoundsFrom(env),
    admin: adminFrom(env),
    traffic: trafficFrom(env[environment.traffic]),
    sessionDays: sessionDaysFrom(env[environment.sessionDays]),
  };
}

/** The role that `text` or else the environment names. Throws `StartRefused`. */
export function roleFrom(text: string | null, env: Env): DaemonRole {
  const word = text ?? (env[environment.role] || 'all');
  const role = daemonRoles.find(known => known === word);
  if (role) return role;
  throw new StartRefused(
    2,
    `${text === null ? environment.role : '--role'} is malformed`,
    'write all, registry or station',
  );
}

/** The name of the daemon that `text` or else the environment gives; else that of the host. Throws `StartRefused`. */
export function nodeFrom(text: string | null, env: Env): string {
  const name = text ?? (env[environment.node] || null);
  if (name === null) return hostNode();
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(name)) return name;
  throw new StartRefused(
    2,
    `${text === null ? environment.node : '--node'} is malformed`,
    'write 1 to 63 letters, digits, dots, hyphens and underscores, such as node-1',
  );
}

/** The seconds of `DaemonSettings.drain` that `given` or else the environment names. Throws `StartRefused`. */
export function drainFrom(given: number | null, env: Env): number {
  const text = env[environment.drain] || '0';
  const seconds = given ?? (/^\d{1,4}$/.test(text) ? Number(text) : Number.NaN);
  if (seconds >= 0 && seconds <= maxDrainSeconds) return seconds;
  throw new StartRefused(2, `${environment.drain} is malformed`, `write a whole number from 0 to ${maxDrainSeconds}`);
}

/** The name of the host as the name of a daemon: a header and a label can have it. */
export const hostNode = (host: string = hostname()): string =>
  host
    .replaceAll(/[^A-Za-z0-9._-]/g, '-')
    .replace(/^[._-]+/, '')
    .slice(0, 63) || 'devmgr';

/** The folder of the secrets that `given` or else the environment names; null for the home. */
export function secretsFrom(given: string | null, env: Env): string | null {
  const dir = given ?? env[environment.secrets] ?? '';
  return dir === '' ? null : resolve(dir);
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
      'leave --simulate-keys and --ukey-match out',
    );
  if (role === 'station' && (objectStore || forward || store || secrets))
    throw new StartRefused(
      2,
      'a daemon with the role station has no registry',
      'leave --store, --secrets, --files and --forward out',
    );
}

function sessionDaysFrom(text: string | undefined): number {
  if (text === undefined || text === '') return sessionDays.default;
  const days = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (days >= sessionDays.min && days <= sessionDays.max) return days;
  const hint = `write a whole number from ${sessionDays.min} to ${sessionDays.max}`;
  throw new StartRefused(2, `${environment.sessionDays} is malformed`, hint);
}

function trafficFrom(word: string | undefined): DaemonSettings['traffic'] {
  if (word === undefined || word === '' || word === 'off') return 'off';
  if (word === 'masked' || word === 'full') return word;
  throw new StartRefused(2, `${environment.traffic} is malformed`, 'write off, masked or full');
}

function limitsFrom(env: Env): Limits {
  const scopes = Object.keys(rateLimits) as LimitScope[];
  return Object.fromEntries(
    scopes.map(scope => [scope, limitFrom(environment.limits[scope], env, rateLimits[scope])]),
  ) as Limits;
}

function limitFrom(name: string, env: Env, byDefault: Limit): Limit | null {
  const text = env[name];
  if (text === undefined || text === '') return byDefault;
  if (text === 'off') return null;
  const match = /^([1-9]\d{0,8})\/([1-9]\d{0,8})$/.exec(text);
  if (!match)
    throw new StartRefused(
      2,
      `${name} is malformed`,
      `write COUNT/SECONDS, such as ${byDefault.count}/${byDefault.seconds}, or off`,
    );
  return { count: Number(match[1]), seconds: Number(match[2]) };
}

const units: Readonly<Record<string, number>> = { '': 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 };

/** Bytes, as a whole number that may have a unit; null if the text is not one. */
function bytesFrom(text: string): number | null {
  const match = /^([1-9]\d{0,8}|0)([KMGT]?)$/.exec(text);
  return match ? Number(match[1]) * units[match[2]!]! : null;
}

function fileBoundsFrom(env: Env): FileBounds {
  const { total, reserve, daily } = environment.files;
  const kept = boundFrom(reserve, env, bytesFrom, '2G');
  const { bytes, share } = fileBounds.reserve;
  return {
    total: orDefault(boundFrom(total, env, bytesFrom, '500G'), fileBounds.total),
    reserve: kept === undefined ? size => Math.min(bytes, Math.floor(size * share)) : () => kept ?? 0,
    daily: orDefault(boundFrom(daily, env, dailyFrom, '10000/100G'), fileBounds.daily),
  };
}

const orDefault = <T>(value: T | undefined, byDefault: T): T => (value === undefined ? byDefault : value);

function dailyFrom(text: string): FileBounds['daily'] {
  const [count = '', size = '', ...rest] = text.split('/');
  const bytes = bytesFrom(size);
  return /^[1-9]\d{0,8}$/.test(count) && bytes !== null && rest.length === 0 ? { count: Number(count), bytes } : null;
}

/** A bound of files: undefined if the variable is not set, null if it is off. */
function boundFrom<T>(
  name: string,
  env: Env,
  parse: (text: string) => T | null,
  example: string,
): T | null | undefined {
  const text = env[name];
  if (text === undefined || text === '') return undefined;
  if (text === 'off') return null;
  const bound = parse(text);
  if (bound === null) throw new StartRefused(2, `${name} is malformed`, `write it like ${example}, or off`);
  return bound;
}

const readUsername = compileReader(Type.Object({ username }));

function adminFrom(env: Env): DaemonSettings['admin'] {
  const read = readUsername({ username: env[environment.adminUsername] || 'admin' });
  if (!read.ok) throw new StartRefused(2, `${environment.adminUsername}: ${read.message}`);
  return { username: read.value.username, password: env[environment.adminPassword] || null };
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
    throw new StartRefused(2, '--tls-cert and --tls-key go together');
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
