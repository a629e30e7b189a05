/** Profiles: what is remembered between commands, in `config.json` of the home folder. */
import { join } from 'node:path';
import { homeFiles } from '../../contract/local.ts';
import { usage } from '../fault.ts';
import { profilesWithLogin } from './credentials.ts';
import { readJsonFile, writeJsonFile } from './files.ts';

/** What a profile can hold. Each is a text; a setting that is absent has its default. */
export const profileSettings = {
  server: 'address of the registry; without it the daemon on this machine',
  hardware:
    'address of the service that sees the keys; without it the registry where that is this machine, else the local daemon',
  ca: 'file with the certificates that the server is trusted by (PEM)',
  username: 'name that login takes where none is given',
} as const;
export type ProfileSetting = keyof typeof profileSettings;
export type Profile = { readonly [K in ProfileSetting]?: string };

export interface ConfigFile {
  /** Name of the profile that is used where none is named. */
  readonly profile: string;
  readonly profiles: Readonly<Record<string, Profile>>;
}

const defaultProfile = 'default';
const nameShape = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export function checkProfileName(name: string): string {
  if (!nameShape.test(name) || name === '__proto__')
    throw usage(`"${name}" is no name for a profile`, 'use ASCII letters, digits and . _ -');
  return name;
}

const fileOf = (home: string) => join(home, homeFiles.config);

export function readConfig(home: string): ConfigFile {
  const stored = readJsonFile(fileOf(home)) ?? {};
  const profiles = typeof stored.profiles === 'object' && stored.profiles !== null ? stored.profiles : {};
  return {
    profile: typeof stored.profile === 'string' ? stored.profile : defaultProfile,
    profiles: profiles as Record<string, Profile>,
  };
}

export function profileOf(config: ConfigFile, name: string): Profile {
  return Object.hasOwn(config.profiles, name) ? config.profiles[name]! : {};
}

/** Those that have settings or a login, the one in use, and the one that is always there. */
export function knownProfiles(home: string, config: ConfigFile): readonly string[] {
  const names = [defaultProfile, config.profile, ...Object.keys(config.profiles), ...profilesWithLogin(home)];
  return [...new Set(names)].sort();
}

/** A name that was mistyped would be one without settings and login: another registry, or nobody. */
export function demandProfile(home: string, config: ConfigFile, name: string): void {
  if (Object.hasOwn(config.profiles, name)) return;
  const known = knownProfiles(home, config);
  if (!known.includes(name))
    throw usage(
      `there is no profile "${name}", only ${known.join(', ')}`,
      `make it: devmgr login --profile ${name} --server URL`,
    );
}

/** Sets one setting of a profile, or takes it away where the value is null. */
export function storeSetting(home: string, name: string, setting: ProfileSetting, value: string | null): void {
  const config = readConfig(home);
  const { [setting]: _, ...rest } = profileOf(config, name);
  const profile = value === null ? rest : { ...rest, [setting]: value };
  writeJsonFile(fileOf(home), { ...config, profiles: { ...config.profiles, [name]: profile } });
}

export function chooseProfile(home: string, name: string): void {
  writeJsonFile(fileOf(home), { ...readConfig(home), profile: name });
}

export const configFile = fileOf;
