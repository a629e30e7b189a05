/** Profiles: settings that are kept between commands, in `config.json` of the home folder. */
import { basename, join } from 'node:path';
import { isObject } from '../../contract/json-object.ts';
import { homeFiles } from '../../contract/local.ts';
import { Fault, systemCode, usage } from '../fault.ts';
import { profilesWithLogin } from './credentials.ts';
import { withLock } from './file-lock.ts';
import { damaged, jsonText, makeFolder, readJsonFile, unwritable } from './files.ts';

/** The settings of a profile and their help. Each is a text; a setting that is absent has its default. */
export const profileSettings = {
  server: 'address of the registry, or several, separated by commas; by default the daemon on this machine',
  hardware:
    'address of the service that sees the keys; by default the registry if it runs on this machine, else the local daemon',
  ca: 'file with the certificates (PEM) to trust for the server',
  username: 'user name that login uses by default',
  printer: 'printer of labels: HOST, HOST:PORT, lp for the default queue of the system, or lp:QUEUE',
} as const;
export type ProfileSetting = keyof typeof profileSettings;
type Profile = { readonly [K in ProfileSetting]?: string };
/** Settings that a station repeats each day: values of flags of `enroll`, by the names of these flags. */
export type Station = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** Content of `config.json`. */
interface ConfigFile {
  /** Name of the profile to use by default. */
  readonly profile: string;
  readonly profiles: Readonly<Record<string, Profile>>;
  readonly stations: Readonly<Record<string, Station>>;
  /** How the files of a system are read, by the name that a person gave it. */
  readonly maps: Readonly<Record<string, SavedMap>>;
}

/** Texts of the flags that read a file. */
export interface SavedMap {
  readonly map: readonly string[];
  readonly where: readonly string[];
  readonly columns?: string;
  readonly encoding?: string;
}

const defaultProfile = 'default';
const nameShape = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** The name, if a profile may have it; else a usage error. */
export function checkProfileName(name: string): string {
  if (!nameShape.test(name) || name === '__proto__')
    throw usage(`"${name}" is not a valid profile name`, 'use ASCII letters, digits and . _ -');
  return name;
}

/** Path of the settings file of a home folder. */
export const configFile = (home: string): string => join(home, homeFiles.config);

/** The stored settings; those of an empty file if there is none. */
export function readConfig(home: string): ConfigFile {
  const file = configFile(home);
  const { profile = defaultProfile, profiles = {}, maps = {}, stations = {} } = readJsonFile(file) ?? {};
  if (typeof profile !== 'string' || !isProfiles(profiles) || !isMaps(maps))
    throw damaged(file, 'a setting is not a text');
  if (!isStations(stations)) throw damaged(file, 'a station is not a list of flags');
  return { profile, profiles, maps, stations };
}

function isStations(value: unknown): value is ConfigFile['stations'] {
  const isPlain = (flag: unknown) => ['string', 'number', 'boolean'].includes(typeof flag);
  const isFlag = (flag: unknown) =>
    isPlain(flag) || (Array.isArray(flag) && flag.every(text => typeof text === 'string'));
  return isObject(value) && Object.values(value).every(flags => isObject(flags) && Object.values(flags).every(isFlag));
}

function isProfiles(value: unknown): value is ConfigFile['profiles'] {
  const isText = (setting: unknown) => setting === undefined || typeof setting === 'string';
  const isProfile = (profile: unknown) =>
    isObject(profile) && Object.keys(profileSettings).every(name => isText(profile[name]));
  return isObject(value) && Object.values(value).every(isProfile);
}

function isMaps(value: unknown): value is ConfigFile['maps'] {
  const isText = (each: unknown) => typeof each === 'string';
  const isMap = (each: unknown) =>
    isObject(each) &&
    [each.map, each.where].every(texts => Array.isArray(texts) && texts.every(isText)) &&
    [each.columns, each.encoding].every(text => text === undefined || isText(text));
  return isObject(value) && Object.values(value).every(isMap);
}

/** The settings of a profile; empty if it has none. */
export function profileOf(config: ConfigFile, name: string): Profile {
  return Object.hasOwn(config.profiles, name) ? config.profiles[name]! : {};
}

/** Sorted names of the profiles with settings or a login, the one in use and the default one. */
export function knownProfiles(home: string, config: ConfigFile): readonly string[] {
  const names = [defaultProfile, config.profile, ...Object.keys(config.profiles), ...profilesWithLogin(home)];
  return [...new Set(names)].sort();
}

/** A usage error if the profile does not exist: a mistyped name would otherwise mean another registry without a login. */
export function demandProfile(home: string, config: ConfigFile, name: string): void {
  if (Object.hasOwn(config.profiles, name)) return;
  const known = knownProfiles(home, config);
  if (!known.includes(name))
    throw usage(
      `there is no profile "${name}", only ${known.join(', ')}`,
      `create it: devmgr login --profile ${name} --server URL`,
    );
}

/** Sets one setting of a profile, or removes it if the value is null. */
export function storeSetting(home: string, name: string, setting: ProfileSetting, value: string | null): Promise<void> {
  return updateConfig(home, config => {
    const { [setting]: _, ...others } = profileOf(config, name);
    const profile = value === null ? others : { ...others, [setting]: value };
    return { ...config, profiles: { ...config.profiles, [name]: profile } };
  });
}

/** Stores what a station repeats, or removes the station if `flags` is null. */
export const storeStation = (home: string, name: string, flags: Station | null): Promise<void> =>
  updateConfig(home, config => {
    const { [name]: _, ...others } = config.stations;
    return { ...config, stations: flags === null ? others : { ...others, [name]: flags } };
  });

/** Makes a profile the one that is used by default. */
export const chooseProfile = (home: string, name: string): Promise<void> =>
  updateConfig(home, config => ({ ...config, profile: name }));

const text = { type: 'string' } as const;
const texts = { type: 'array', items: text } as const;
const schema = {
  profile: text,
  profiles: {
    type: 'object',
    additionalProperties: {
      type: 'object',
      properties: Object.fromEntries(Object.keys(profileSettings).map(name => [name, text])),
    },
  },
  maps: {
    type: 'object',
    additionalProperties: {
      type: 'object',
      properties: { map: texts, where: texts, columns: text, encoding: text },
      required: ['map', 'where'],
    },
  },
} as const;

/** Reads, changes and writes the settings as one step: processes that do so at the same time wait for each other. */
export async function updateConfig(home: string, change: (config: ConfigFile) => ConfigFile): Promise<void> {
  const file = configFile(home);
  const Conf = await loadConf();
  try {
    makeFolder(home);
    await withLock(`${file}.lock`, () => {
      const stored = readConfig(home);
      const conf = new Conf<ConfigFile>({
        cwd: home,
        configName: basename(file, '.json'),
        configFileMode: 0o600,
        accessPropertiesByDotNotation: false,
        serialize: jsonText,
        schema,
      });
      const { maps, stations, ...others } = change(stored);
      const { maps: _maps, stations: _stations, ...kept } = conf.store;
      // Without any, the file stays what an earlier version has written.
      const used = Object.entries({ maps, stations }).filter(([, named]) => Object.keys(named).length > 0);
      conf.store = { ...kept, ...others, ...Object.fromEntries(used) } as ConfigFile;
    });
  } catch (error) {
    throw systemCode(error) === null || error instanceof Fault ? error : unwritable(file, error);
  }
}

/**
 * A module of conf's handles every signal that ends a process by raising it a second time, which this program takes for a
 * second Ctrl-C. It does so to remove temporary files; one that is left behind does no harm. So its handlers are removed.
 */
async function loadConf(): Promise<typeof import('conf').default> {
  const known = new Set(process.eventNames().flatMap(name => process.listeners(name as 'exit')));
  const { default: Conf } = await import('conf');
  for (const name of process.eventNames()) {
    for (const listener of process.listeners(name as 'exit')) if (!known.has(listener)) process.off(name, listener);
  }
  return Conf;
}
