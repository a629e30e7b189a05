/** The settings of a command: a flag overrides the environment, the environment overrides the stored profile. */
import { existsSync, type Stats, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import {
  type DaemonInfo,
  daemonRoles,
  defaultHome,
  defaultHost,
  defaultPort,
  type Env,
  environment,
  homeFiles,
  isThisMachine,
} from '../../contract/local.ts';
import { consolePath } from '../../contract/values.ts';
import { failure, tryOr, usage } from '../fault.ts';
import { readDaemonStart } from './daemon-start.ts';
import { readJsonFile, unusableHome } from './files.ts';
import { isDaemon } from './processes.ts';
import { checkProfileName, demandProfile, profileOf, readConfig } from './profiles.ts';

/** The global flags that settings are resolved from. */
interface SettingFlags {
  readonly server: string | undefined;
  /** Where `server` comes from, if it has a value. */
  readonly serverFrom: 'flag' | 'environment';
  readonly hardware: string | undefined;
  readonly profile: string | undefined;
  readonly home: string | undefined;
  /** Whether `home` was typed, as `--home`. */
  readonly homeTyped: boolean;
  readonly ca: string | undefined;
}

/** Where the value of a setting comes from. */
type Origin = 'flag' | 'environment' | 'profile' | 'default';

/** The settings of one command. */
export interface Settings {
  readonly home: string;
  readonly profile: string;
  /** Address of the registry, or several with commas between; null means the daemon of this home. */
  readonly server: string | null;
  readonly serverFrom: Origin;
  /** Address of the hardware service; null if none is named. */
  readonly hardware: string | null;
  readonly ca: string | null;
  /** User name that login uses by default. */
  readonly username: string | null;
  /** Where labels are printed unless a flag names a printer, as the user gave it; null if none is named. */
  readonly printer: string | null;
  /** DEVMGR_TOKEN, or null. */
  readonly token: string | null;
}

function resolveHome({ home: flag, homeTyped }: SettingFlags, env: Env): string {
  if (flag === '') throw usage('--home needs a folder');
  const home = flag ?? defaultHome(process.platform, env, userHome());
  if (home === null)
    throw failure('this user has no home folder', `name a folder with --home DIR or ${environment.home}`);
  const folder = resolve(home);
  checkHome(folder, homeTyped);
  return folder;
}

/**
 * A user who can write to the folder could put in the address of a server that collects tokens and passwords. Root uses the
 * home of another user only if `--home` names it: sudo can leave HOME and DEVMGR_HOME as that user has set them.
 */
function checkHome(home: string, isTyped: boolean): void {
  const stat = statOf(home);
  const user = process.getuid?.();
  if (!stat || user === undefined) return;
  if (stat.uid !== user && !(user === 0 && isTyped))
    throw failure(
      `the home folder ${home} belongs to another user`,
      user === 0
        ? `if you trust that user, name the folder explicitly: --home ${home}`
        : `name a folder of your own with --home DIR or ${environment.home}`,
    );
  if (stat.mode & 0o022)
    throw failure(
      `${stat.mode & 0o002 ? 'other users' : 'other users of its group'} can change the home folder ${home}`,
      `chmod 700 ${home}`,
    );
}

function statOf(home: string): Stats | undefined {
  try {
    return statSync(home, { throwIfNoEntry: false });
  } catch (error) {
    throw unusableHome(home, error);
  }
}

/** The home folder of the user. A relative one would be another folder in each working directory. */
function userHome(): string | undefined {
  const home = tryOr(homedir, undefined) || undefined;
  if (home !== undefined && !isAbsolute(home))
    throw failure(
      `the home folder of this user, ${home}, is not an absolute path`,
      `set HOME, or name a folder with --home DIR`,
    );
  return home;
}

/**
 * Resolves the settings of a command. A fault if the home folder is not safe to use, an address is not valid, or the profile
 * that a flag names does not exist and `mayBeNew` is false.
 */
export function resolveSettings(flags: SettingFlags, env: Env, mayBeNew = false): Settings {
  const home = resolveHome(flags, env);
  const config = readConfig(home);
  const name = checkProfileName(flags.profile ?? config.profile);
  if (flags.profile !== undefined && !mayBeNew) demandProfile(home, config, name);
  const profile = profileOf(config, name);
  const server = flags.server ?? profile.server ?? null;
  const serverFrom = flags.server !== undefined ? flags.serverFrom : server === null ? 'default' : 'profile';
  const hardware = flags.hardware ?? profile.hardware ?? null;
  return {
    home,
    profile: name,
    server: server === null ? null : serverAddresses(server),
    serverFrom,
    hardware: hardware === null ? null : serverAddress(hardware),
    ca: flags.ca ?? profile.ca ?? null,
    username: profile.username ?? null,
    printer: env[environment.labelPrinter] || profile.printer || null,
    token: tokenFrom(env[environment.token] ?? ''),
  };
}

/** A token without the spaces and line ends around it; null if it is empty. Copying it can add quotes, which no header may have. */
function tokenFrom(text: string): string | null {
  const token = text.trim();
  const at = token.search(/[^\x21-\x7e]/);
  if (at >= 0)
    throw usage(
      `the token in ${environment.token} has a character that no token has, at position ${at + 1}`,
      'copy it again: a token has letters, digits and punctuation without typographic quotes, spaces and line ends',
    );
  return token || null;
}

/**
 * An address in its canonical form: scheme, host and port, and a path if it has one. Without a scheme it is plain HTTP; a single
 * word is then not an address, because it is more likely a mistake than a host.
 */
export function serverAddress(text: string): string {
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  const given = hasScheme ? text : `http://${text}`;
  const url = URL.canParse(given) ? new URL(given) : null;
  // Without a scheme and a port, this machine means the usual port of a daemon.
  if (url && !hasScheme && isThisMachine(url.hostname) && !/:\d+(\/|$)/.test(text)) url.port = String(defaultPort);
  const isWord = !hasScheme && !/[.:]/.test(text) && url?.hostname !== 'localhost';
  if (!url || isWord || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '')
    throw usage(
      `"${text}" is not a valid server address`,
      `write it like https://registry.example.com or http://${defaultHost}:${defaultPort}`,
    );
  if (url.username || url.password)
    throw usage('a server address must not contain a password', 'log in instead: devmgr login');
  // The address of a page of the console is that of its server.
  const [path = ''] = `${url.pathname}/`.split(consolePath, 1);
  return url.origin + withoutSlashes(path);
}

/** Addresses of one registry that a command may use. */
const maxAddresses = 16;

/** One address, or several with commas between, each in its canonical form and once. */
export function serverAddresses(text: string): string {
  const given = text.includes(',') ? text.split(',').map(part => part.trim()) : [text];
  if (given.length > maxAddresses)
    throw usage(`${given.length} server addresses are too many`, `name at most ${maxAddresses}`);
  return [...new Set(given.map(serverAddress))].join(',');
}

/** The addresses of a registry in the order that the user gave; empty if none is named. */
export const addressesOf = (server: string | null): readonly string[] => server?.split(',') ?? [];

/** Whether a registry has several addresses. */
export const hasSeveralAddresses = (server: string | null): server is string => server?.includes(',') === true;

function withoutSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '/') end--;
  return text.slice(0, end);
}

const defaultAddress = `http://${defaultHost}:${defaultPort}`;

/** Report of the daemon of this home about itself; null if there is none. A daemon that was killed leaves it behind. */
export function readDaemonInfo(home: string): DaemonInfo | null {
  const info = tryOr(() => readJsonFile(join(home, homeFiles.daemonInfo)), null);
  if (typeof info?.pid !== 'number' || typeof info.url !== 'string' || !URL.canParse(info.url)) return null;
  return {
    pid: info.pid,
    url: withoutSlashes(info.url),
    socket: typeof info.socket === 'string' ? info.socket : null,
    version: String(info.version ?? ''),
    startedAt: String(info.startedAt ?? ''),
    ...nodeInfo(info),
  };
}

/** Further fields in the report of a daemon of this version or later. */
function nodeInfo(info: Readonly<Record<string, unknown>>): Partial<DaemonInfo> {
  const { role, node, store, files, drainSeconds } = info;
  const known = daemonRoles.find(name => name === role);
  if (known === undefined || typeof node !== 'string' || typeof drainSeconds !== 'number') return {};
  const place = (value: unknown) => (typeof value === 'string' ? value : null);
  return { role: known, node, store: place(store), files: place(files), drainSeconds };
}

/** The daemon of a home if its process runs, whether it answers or not; else null. */
export function runningDaemon(home: string): DaemonInfo | null {
  const info = readDaemonInfo(home);
  return info && isDaemon(info.pid) ? info : null;
}

/** Path of the Unix socket of a daemon; null if it has none. One that was deleted while the daemon runs is not waited for. */
export const socketOf = ({ socket }: DaemonInfo): string | null =>
  socket !== null && existsSync(socket) ? socket : null;

/** Whether an address is one of this machine. */
export const isLoopback = (address: string): boolean => isThisMachine(new URL(address).hostname);

/** Whether the registry is the daemon of this home: no server is named, or its address is. */
export function isLocalServer(settings: Settings): boolean {
  return settings.server === null || settings.server === readDaemonInfo(settings.home)?.url;
}

/** Whether a daemon of this home would be the registry if it were started: on the usual port, or on the one that it had last. */
export const couldBeLocal = (settings: Settings): boolean =>
  isLocalServer(settings) ||
  settings.server === defaultAddress ||
  (!hasSeveralAddresses(settings.server) &&
    isLoopback(settings.server!) &&
    settings.server === readDaemonStart(settings.home)?.url);
