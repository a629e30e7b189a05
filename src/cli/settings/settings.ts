/** What a command runs with: a flag beats the environment, the environment beats the stored profile. */
import { type Stats, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  type DaemonInfo,
  defaultHome,
  defaultHost,
  defaultPort,
  environment,
  homeFiles,
} from '../../contract/local.ts';
import { Fault, systemWords, usage } from '../fault.ts';
import { readJsonFile } from './files.ts';
import { checkProfileName, demandProfile, profileOf, readConfig } from './profiles.ts';

export interface SettingFlags {
  readonly server: string | undefined;
  /** Where `server` is from, if it has a value. */
  readonly serverFrom: 'flag' | 'environment';
  readonly hardware: string | undefined;
  readonly profile: string | undefined;
  readonly home: string | undefined;
  readonly ca: string | undefined;
}

export type Origin = 'flag' | 'environment' | 'profile' | 'default';

export interface Settings {
  readonly home: string;
  readonly profile: string;
  /** Address of the registry; null stands for the daemon of this home. */
  readonly server: string | null;
  readonly serverFrom: Origin;
  /** Address of the hardware service; null where none is named. */
  readonly hardware: string | null;
  readonly ca: string | null;
  /** Name that login takes where none is given. */
  readonly username: string | null;
  /** DEVMGR_TOKEN, or null. */
  readonly token: string | null;
}

type Env = Readonly<Record<string, string | undefined>>;

function resolveHome(flag: string | undefined, env: Env): string {
  if (flag === '') throw usage('--home needs the name of a folder');
  const home = flag ?? defaultHome(process.platform, env, userHome());
  if (home === null)
    throw new Fault('failure', 'this user has no home folder', `name a folder with --home DIR or ${environment.home}`);
  const folder = resolve(home);
  checkHome(folder);
  return folder;
}

/** What others can write they can also fill: the address of their own server, to be sent tokens and passwords. */
function checkHome(home: string): void {
  const stat = statOf(home);
  const user = process.getuid?.();
  if (!stat || user === undefined) return;
  if (stat.uid !== user && user !== 0)
    throw new Fault(
      'failure',
      `the home folder ${home} belongs to another user`,
      `name one of your own with --home DIR or ${environment.home}`,
    );
  if (stat.mode & 0o002)
    throw new Fault('failure', `the home folder ${home} can be changed by others`, `chmod 700 ${home}`);
}

function statOf(home: string): Stats | undefined {
  try {
    return statSync(home, { throwIfNoEntry: false });
  } catch (error) {
    throw new Fault(
      'failure',
      `the home folder ${home} cannot be used: ${systemWords(error)}`,
      `name another folder with --home DIR or ${environment.home}`,
    );
  }
}

function userHome(): string | undefined {
  try {
    return homedir() || undefined;
  } catch {
    return undefined;
  }
}

/** @param mayBeNew a profile that is named with a flag need not exist */
export function resolveSettings(flags: SettingFlags, env: Env, mayBeNew = false): Settings {
  const home = resolveHome(flags.home, env);
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
    server: server === null ? null : serverAddress(server),
    serverFrom,
    hardware: hardware === null ? null : serverAddress(hardware),
    ca: flags.ca ?? profile.ca ?? null,
    username: profile.username ?? null,
    token: env[environment.token] || null,
  };
}

/** The address in the one way it is written: scheme, host and port, a path only where there is one. */
export function serverAddress(text: string): string {
  const given = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(given) ? new URL(given) : null;
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '')
    throw usage(
      `"${text}" is no address of a server`,
      `write it like https://registry.example.com or http://${defaultHost}:${defaultPort}`,
    );
  if (url.username || url.password)
    throw usage('an address of a server holds no password', 'log in instead: devmgr login');
  return url.origin + withoutSlashes(url.pathname);
}

function withoutSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '/') end--;
  return text.slice(0, end);
}

const defaultAddress = `http://${defaultHost}:${defaultPort}`;

/** What the daemon of this home has written about itself; null where none says it runs. It may be left over from one that was killed. */
export function readDaemonInfo(home: string): DaemonInfo | null {
  let info: Readonly<Record<string, unknown>> | null;
  try {
    info = readJsonFile(join(home, homeFiles.daemonInfo));
  } catch {
    return null;
  }
  if (typeof info?.pid !== 'number' || typeof info.url !== 'string' || !URL.canParse(info.url)) return null;
  return {
    pid: info.pid,
    url: withoutSlashes(info.url),
    version: String(info.version ?? ''),
    startedAt: String(info.startedAt ?? ''),
  };
}

/** Whether an address is one of this machine alone. */
export function isLoopback(address: string): boolean {
  const host = new URL(address).hostname;
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** Whether the registry is the daemon of this home: none is named, or its very address is. */
export function isLocalServer(settings: Settings): boolean {
  return settings.server === null || settings.server === readDaemonInfo(settings.home)?.url;
}

/** Whether a daemon of this home would be the registry, if one were started where it usually is. */
export const couldBeLocal = (settings: Settings): boolean =>
  isLocalServer(settings) || settings.server === defaultAddress;
