import ipaddr from 'ipaddr.js';
import { Type } from 'typebox';
import { type Limit, type LimitScope, passwordLength, rateLimits } from '../../src/contract/limits.ts';
import { environment } from '../../src/contract/local.ts';
import { username } from '../../src/contract/users.ts';
import { compileReader } from '../../src/contract/validate.ts';
import { isLoopbackName } from '../loopback.ts';
import type { Limits } from '../services/limiter.ts';

/** How the daemon is to run. */
export interface DaemonSettings {
  /** Folder of everything the daemon keeps. */
  readonly home: string;
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** Log as NDJSON on stdout instead of lines for people on stderr. */
  readonly json: boolean;
  readonly verbose: boolean;
  /** Whether USB and PC/SC are watched; a test that is about something else leaves the machine's hardware alone. */
  readonly hardware: boolean;
  readonly simulateKeys: number;
  /** Whether every APDU and report goes to the log: not at all, without what may be a serial, or whole. */
  readonly traffic: 'off' | 'masked' | 'full';
  /** PEM files; both or none. */
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
  /** Serve a network without TLS all the same. */
  readonly insecureHttp: boolean;
  /** CIDRs of proxies whose X-Forwarded-For is believed. */
  readonly trustProxy: readonly string[];
  /** Further names the daemon may be called by. */
  readonly allowHosts: readonly string[];
  /** Vendor or vendor:product ids (hex) of further USB keys. */
  readonly ukeyMatch: readonly string[];
  readonly limits: Limits;
  readonly admin: { readonly username: string; readonly password: string | null };
}

/** The daemon does not start, and this is why. `exitCode` is 2 where the call or a setting is wrong, else 1. */
export class StartRefused extends Error {
  readonly exitCode: 1 | 2;
  readonly hint: string | null;
  constructor(exitCode: 1 | 2, message: string, hint: string | null = null) {
    super(message);
    this.name = 'StartRefused';
    this.exitCode = exitCode;
    this.hint = hint;
  }
}

type Env = Readonly<Record<string, string | undefined>>;

/** What comes from the environment; refuses with `StartRefused` what is malformed. */
export function settingsFromEnvironment(env: Env): Pick<DaemonSettings, 'limits' | 'admin' | 'traffic'> {
  return { limits: limitsFrom(env), admin: adminFrom(env), traffic: trafficFrom(env[environment.traffic]) };
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

function limitFrom(name: string, env: Env, usual: Limit): Limit | null {
  const text = env[name];
  if (text === undefined || text === '') return usual;
  if (text === 'off') return null;
  const match = /^([1-9]\d{0,8})\/([1-9]\d{0,8})$/.exec(text);
  if (!match)
    throw new StartRefused(
      2,
      `${name} is malformed`,
      `write COUNT/SECONDS, such as ${usual.count}/${usual.seconds}, or off`,
    );
  return { count: Number(match[1]), seconds: Number(match[2]) };
}

const readUsername = compileReader(Type.Object({ username }));

function adminFrom(env: Env): DaemonSettings['admin'] {
  const read = readUsername({ username: env[environment.adminUsername] || 'admin' });
  if (!read.ok) throw new StartRefused(2, `${environment.adminUsername}: ${read.message}`);
  return { username: read.value.username, password: env[environment.adminPassword] || null };
}

/** Asked only when the first administrator is made: later the variable means nothing. */
export function checkFirstPassword(password: string): void {
  const length = [...password].length;
  if (length < passwordLength.min || length > passwordLength.max)
    throw new StartRefused(
      2,
      `${environment.adminPassword} must have ${passwordLength.min} to ${passwordLength.max} characters`,
    );
}

/** Refuses what would put passwords and tokens on a network in the clear, and addresses that are none. */
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
