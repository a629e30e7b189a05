/** The settings of the daemon as the flags of `daemon run` and the environment give them. Everything throws `StartRefused`. */
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { Type } from 'typebox';
import {
  daemonSettings,
  type FlagKey,
  type GivenSettings,
  type SettingRow,
} from '../../src/contract/daemon-settings.ts';
import { fileBounds, type Limit, type LimitScope, rateLimits } from '../../src/contract/limits.ts';
import type { Env } from '../../src/contract/local.ts';
import { flagName } from '../../src/contract/setting-words.ts';
import { username } from '../../src/contract/users.ts';
import { compileReader } from '../../src/contract/validate.ts';
import { webhookAllowFrom } from '../base/allowed-targets.ts';
import { isAddressHost } from '../base/networks.ts';
import { StartRefused } from '../base/start-refused.ts';
import type { Limits } from '../requests/limiter.ts';
import type { FileBounds } from './bounds.ts';
import { forwardTarget } from './forward-target.ts';
import { filesTarget } from './object-store-target.ts';
import { storeTarget } from './store-target.ts';

type Rows = typeof daemonSettings;
/** Settings that only their row describes. */
type PlainKey = Exclude<
  {
    [K in keyof Rows]: Rows[K] extends { readonly help: string } | { readonly variable: string } ? K : never;
  }[keyof Rows],
  keyof typeof readers
>;
type PlainValue<R> = R extends { readonly many: true }
  ? readonly string[]
  : R extends { readonly whole: object }
    ? number
    : R extends { readonly choices: readonly (infer Choice)[] }
      ? Choice
      : R extends { readonly value: string }
        ? R extends { readonly default: string }
          ? string
          : string | undefined
        : boolean;

/** The settings that the flags and the environment give. */
export type ReadSettings = { readonly [K in PlainKey]: PlainValue<Rows[K]> } & {
  readonly [K in keyof typeof readers]: ReturnType<(typeof readers)[K]>;
};

/** Readers of what a row does not describe. */
const readers = {
  admin: (_: GivenSettings, env: Env) => adminFrom(env),
  limits: (_: GivenSettings, env: Env) => limitsFrom(env),
  node: ({ node }: GivenSettings, env: Env) => nodeFrom(sourced('node', node, env)),
  webhookAllow: ({ webhookAllow }: GivenSettings, env: Env) => webhookAllowFrom(webhookAllow ?? [], env),
  publicUrl: ({ publicUrl }: GivenSettings, env: Env) => publicUrlFrom(sourced('publicUrl', publicUrl, env)),
  remoteIssuing: (_: GivenSettings, env: Env) =>
    choiceFrom(daemonSettings.remoteIssuing.choices, sourced('remoteIssuing', null, env)) === 'on',
  forward: ({ forward }: GivenSettings, env: Env) => forwardTarget(forward ?? null, env),
  store: ({ store }: GivenSettings, env: Env) => storeTarget(store ?? null, env),
  secrets: ({ secrets }: GivenSettings, env: Env) => secretsFrom(secrets ?? null, env),
  files: ({ files, insecureHttp }: GivenSettings, env: Env) => filesTarget(files ?? null, env, insecureHttp === true),
  fileBounds: (_: GivenSettings, env: Env) => fileBoundsFrom(env),
};

/** All settings. */
export function readSettings(given: GivenSettings, env: Env): ReadSettings {
  const keys = Object.keys(daemonSettings) as (keyof Rows)[];
  return Object.fromEntries(
    keys.flatMap(key =>
      key in readers || isPlain(key) ? [[key, readSetting(key as keyof ReadSettings, given, env)]] : [],
    ),
  ) as ReadSettings;
}

/** One setting. */
export function readSetting<K extends keyof ReadSettings>(key: K, given: GivenSettings, env: Env): ReadSettings[K] {
  const value =
    key in readers ? readers[key as keyof typeof readers](given, env) : plainSetting(key as PlainKey, given, env);
  return value as ReadSettings[K];
}

const isPlain = (key: keyof Rows): boolean => 'help' in daemonSettings[key] || 'variable' in daemonSettings[key];

function plainSetting(key: PlainKey, given: GivenSettings, env: Env): unknown {
  const { many, whole, choices, default: byDefault }: SettingRow = daemonSettings[key];
  const option = given[key as FlagKey] ?? null;
  if (many) return option ?? [];
  if (typeof option === 'boolean' || typeof option === 'number') return option;
  const text = sourced(key, option as string | null, env);
  if (choices) return choiceFrom(choices, text);
  if (whole && text) return wholeFrom(whole, text);
  return text?.text ?? byDefault;
}

const malformed = (name: string, hint: string): StartRefused => new StartRefused(2, `${name} is malformed`, hint);

/** The text of a setting, and the flag or variable that it comes from. */
interface SourcedText {
  readonly name: string;
  readonly text: string;
}

/** Value of a flag, else of its variable; null if neither is set. */
function sourced(
  key: FlagKey | PlainKey | 'remoteIssuing',
  given: string | null | undefined,
  env: Env,
): SourcedText | null {
  const row: SettingRow = daemonSettings[key];
  if (given != null) return { name: `--${flagName(key, row)}`, text: given };
  const text = row.variable && env[row.variable];
  return text ? { name: row.variable, text } : null;
}

/** One of the words; the first one if none is given. */
function choiceFrom<const W extends string>(words: readonly [W, ...W[]], given: SourcedText | null): W {
  if (given === null) return words[0];
  const found = words.find(word => word === given.text);
  if (found) return found;
  throw malformed(given.name, `write ${words.slice(0, -1).join(', ')} or ${words.at(-1)}`);
}

function wholeFrom({ min, max }: { readonly min: number; readonly max: number }, { name, text }: SourcedText): number {
  const number = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw malformed(name, `write a whole number from ${min} to ${max}`);
}

function nodeFrom(given: SourcedText | null): string {
  if (given === null) return hostNode();
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(given.text)) return given.text;
  throw malformed(given.name, 'write 1 to 63 letters, digits, dots, hyphens and underscores, such as node-1');
}

/** The name of the host as the name of a daemon: a header and a label can have it. */
export const hostNode = (host: string = hostname()): string =>
  host
    .replaceAll(/[^A-Za-z0-9._-]/g, '-')
    .replace(/^[._-]+/, '')
    .slice(0, 63) || 'devmgr';

/** The folder of the secrets that `given` or else the environment names; null for the home. */
export function secretsFrom(given: string | null, env: Env): string | null {
  const dir = given ?? env[daemonSettings.secrets.variable] ?? '';
  return dir === '' ? null : resolve(dir);
}

/**
 * The origin at which people open the daemon in a browser, undefined if none is given.
 * Security keys are registered for its name, so it must have one, and use TLS unless it is localhost.
 */
function publicUrlFrom(given: SourcedText | null): string | undefined {
  if (given === null) return undefined;
  const url = URL.parse(given.text);
  const isPlain = url !== null && url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '';
  const isSecure = url?.protocol === 'https:' || (url?.protocol === 'http:' && url.hostname === 'localhost');
  if (isPlain && isSecure && !isAddressHost(url.hostname)) return url.origin;
  throw malformed(given.name, 'write the address with a name and without a path, such as https://devmgr.example.com');
}

function limitsFrom(env: Env): Limits {
  const scopes = Object.keys(rateLimits) as LimitScope[];
  return Object.fromEntries(
    scopes.map(scope => [scope, limitFrom(daemonSettings.limits[scope].variable, env, rateLimits[scope])]),
  ) as Limits;
}

function limitFrom(name: string, env: Env, byDefault: Limit): Limit | null {
  const text = env[name];
  if (text === undefined || text === '') return byDefault;
  if (text === 'off') return null;
  const match = /^([1-9]\d{0,8})\/([1-9]\d{0,8})$/.exec(text);
  if (!match) throw malformed(name, `write COUNT/SECONDS, such as ${byDefault.count}/${byDefault.seconds}, or off`);
  return { count: Number(match[1]), seconds: Number(match[2]) };
}

const units: Readonly<Record<string, number>> = { '': 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 };

/** Bytes, as a whole number that may have a unit; null if the text is not one. */
function bytesFrom(text: string): number | null {
  const match = /^([1-9]\d{0,8}|0)([KMGT]?)$/.exec(text);
  return match ? Number(match[1]) * units[match[2]!]! : null;
}

function fileBoundsFrom(env: Env): FileBounds {
  const { total, reserve, daily } = daemonSettings.fileBounds;
  const kept = boundFrom(reserve.variable, env, bytesFrom, '2G');
  const { bytes, share } = fileBounds.reserve;
  return {
    total: orDefault(boundFrom(total.variable, env, bytesFrom, '500G'), fileBounds.total),
    reserve: kept === undefined ? size => Math.min(bytes, Math.floor(size * share)) : () => kept ?? 0,
    daily: orDefault(boundFrom(daily.variable, env, dailyFrom, '10000/100G'), fileBounds.daily),
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
  if (bound === null) throw malformed(name, `write it like ${example}, or off`);
  return bound;
}

const readUsername = compileReader(Type.Object({ username }));

function adminFrom(env: Env): { readonly username: string; readonly password: string | null } {
  const { username: name, password } = daemonSettings.admin;
  const read = readUsername({ username: env[name.variable] || 'admin' });
  if (!read.ok) throw new StartRefused(2, `${name.variable}: ${read.message}`);
  return { username: read.value.username, password: env[password.variable] || null };
}
