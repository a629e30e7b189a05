/** Settings as the flags of `daemon run` and the environment give them. A flag is `given`, or null. Everything throws `StartRefused`. */
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { Type } from 'typebox';
import { fileBounds, type Limit, type LimitScope, rateLimits, sessionDays } from '../../src/contract/limits.ts';
import {
  type DaemonRole,
  daemonRoles,
  type Env,
  environment,
  maxDrainSeconds,
  type StepUpMode,
  stepUpModes,
} from '../../src/contract/local.ts';
import { username } from '../../src/contract/users.ts';
import { compileReader } from '../../src/contract/validate.ts';
import { isAddressHost } from '../networks.ts';
import type { FileBounds } from '../services/file-budget.ts';
import type { Limits } from '../services/limiter.ts';
import { StartRefused } from '../start-refused.ts';
import type { DaemonSettings } from './settings.ts';

const malformed = (name: string, hint: string): StartRefused => new StartRefused(2, `${name} is malformed`, hint);

/** The text of a setting, and the flag or variable that it comes from. */
interface SourcedText {
  readonly name: string;
  readonly text: string;
}

/** What a flag or else its variable gives; null if neither does. */
function givenBy(flag: string, given: string | null, variable: string, env: Env): SourcedText | null {
  if (given !== null) return { name: flag, text: given };
  const text = env[variable];
  return text ? { name: variable, text } : null;
}

/** One of the words; the first one if none is given. */
function wordFrom<const W extends string>(words: readonly [W, ...W[]], given: SourcedText | null): W {
  if (given === null) return words[0];
  const found = words.find(word => word === given.text);
  if (found) return found;
  throw malformed(given.name, `write ${words.slice(0, -1).join(', ')} or ${words.at(-1)}`);
}

function wholeFrom({ min, max }: { readonly min: number; readonly max: number }, name: string, text: string): number {
  const number = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw malformed(name, `write a whole number from ${min} to ${max}`);
}

/** The settings from the environment. */
export function settingsFromEnvironment(
  env: Env,
): Pick<DaemonSettings, 'limits' | 'files' | 'admin' | 'traffic' | 'sessionDays' | 'remoteIssuing'> {
  return {
    limits: limitsFrom(env),
    files: fileBoundsFrom(env),
    admin: adminFrom(env),
    traffic: wordFrom(['off', 'masked', 'full'], givenBy('', null, environment.traffic, env)),
    remoteIssuing: wordFrom(['off', 'on'], givenBy('', null, environment.remoteIssuing, env)) === 'on',
    sessionDays: wholeFrom(
      sessionDays,
      environment.sessionDays,
      env[environment.sessionDays] || String(sessionDays.default),
    ),
  };
}

/** What the daemon does. */
export const roleFrom = (given: string | null, env: Env): DaemonRole =>
  wordFrom(daemonRoles, givenBy('--role', given, environment.role, env));

/** The name of the daemon that `text` or else the environment gives; else that of the host. Throws `StartRefused`. */
export function nodeFrom(text: string | null, env: Env): string {
  const given = givenBy('--node', text, environment.node, env);
  if (given === null) return hostNode();
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(given.text)) return given.text;
  throw malformed(given.name, 'write 1 to 63 letters, digits, dots, hyphens and underscores, such as node-1');
}

/** See `DaemonSettings.drain`. */
export const drainFrom = (given: number | null, env: Env): number =>
  wholeFrom({ min: 0, max: maxDrainSeconds }, environment.drain, String(given ?? (env[environment.drain] || 0)));

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

/**
 * The origin at which people open the daemon in a browser, as `text` or else the environment names it; undefined if neither does.
 * Security keys are registered for its name, so it must have one, and use TLS unless it is localhost. Throws `StartRefused`.
 */
export function publicUrlFrom(text: string | null, env: Env): string | undefined {
  const given = givenBy('--public-url', text, environment.publicUrl, env);
  if (given === null) return undefined;
  const url = URL.parse(given.text);
  const isPlain = url !== null && url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '';
  const isSecure = url?.protocol === 'https:' || (url?.protocol === 'http:' && url.hostname === 'localhost');
  if (isPlain && isSecure && !isAddressHost(url.hostname)) return url.origin;
  throw malformed(given.name, 'write the address with a name and without a path, such as https://devmgr.example.com');
}

/** The sessions in which some operations need a recent sign-in. */
export const stepUpFrom = (given: string | null, env: Env): StepUpMode =>
  wordFrom(stepUpModes, givenBy('--step-up', given, environment.stepUp, env));

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
  if (bound === null) throw malformed(name, `write it like ${example}, or off`);
  return bound;
}

const readUsername = compileReader(Type.Object({ username }));

function adminFrom(env: Env): DaemonSettings['admin'] {
  const read = readUsername({ username: env[environment.adminUsername] || 'admin' });
  if (!read.ok) throw new StartRefused(2, `${environment.adminUsername}: ${read.message}`);
  return { username: read.value.username, password: env[environment.adminPassword] || null };
}
