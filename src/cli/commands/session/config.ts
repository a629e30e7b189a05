import { resolve } from 'node:path';
import { Fault, usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import type { ArgShape } from '../../framework/flags.ts';
import { readLoginName } from '../../settings/credentials.ts';
import { savedMap, savedMaps, storeMap } from '../../settings/maps.ts';
import {
  checkProfileName,
  chooseProfile,
  configFile,
  demandProfile,
  knownProfiles,
  type ProfileSetting,
  profileOf,
  profileSettings,
  readConfig,
  storeSetting,
} from '../../settings/profiles.ts';
import { serverAddress, serverAddresses } from '../../settings/settings.ts';
import { card } from '../../terminal/card.ts';
import { safe } from '../../terminal/text.ts';

const verbs = ['show', 'get', 'set', 'unset', 'use', 'profiles', 'maps', 'path'] as const;
const names = Object.keys(profileSettings) as ProfileSetting[];

/** Shows and changes profiles. Does not contact the server. */
export const config = command({
  description: `The settings are ${names.join(', ')}. An option overrides the environment, and the environment overrides the profile. "use NAME" chooses the profile for commands without --profile.`,
  args: [
    { name: 'ACTION', help: 'what to do (default: show)', optional: true, choices: verbs },
    { name: 'NAME', help: 'setting; after use: profile; after maps: map', optional: true },
    { name: 'VALUE', help: 'new value; after maps: remove', optional: true },
  ],
  follows: ([verb, setting]) => offerFor(verb, setting),
  makesProfile: ([verb]) => verb === 'set',
  examples: {
    'the current settings, and where they come from': 'config',
    'another registry, in its own profile': 'config set server https://registry.example.com --profile work',
    'use that profile from now on': 'config use work',
    'the maps of columns that were saved': 'config maps',
  },
  async run({ args }, context) {
    const [verb = 'show', name, value] = args;
    const { home, profile } = context.settings;
    const expected = {
      show: 1,
      get: 2,
      set: 3,
      unset: 2,
      use: 2,
      profiles: 1,
      maps: args.length === 3 ? 3 : 1,
      path: 1,
    }[verb as (typeof verbs)[number]];
    const isAsked = verb === 'use' && name === undefined && context.canAsk;
    if (args.length > 0 && args.length !== expected && !isAsked)
      throw usage(
        `config ${verb} takes ${expected - 1} arguments, not ${args.length - 1}`,
        'see: devmgr config --help',
      );
    switch (verb) {
      case 'get':
        return get(context, settingOf(name!));
      case 'set': {
        const setting = settingOf(name!);
        const stored = await checked(setting, value!);
        await storeSetting(home, profile, setting, stored);
        return reportChange(context, `${setting} of profile ${profile} is ${stored}.`);
      }
      case 'unset':
        await storeSetting(home, profile, settingOf(name!), null);
        return reportChange(context, `${name} of profile ${profile} has its default value.`);
      case 'use': {
        const name = args[1] ?? (await picked(context));
        demandProfile(home, readConfig(home), checkProfileName(name));
        await chooseProfile(home, name);
        return reportChange(context, `Profile ${name} is used from now on.`);
      }
      case 'profiles':
        return profiles(context);
      case 'maps':
        return maps(context, name, value);
      case 'path':
        return context.out.text(`${configFile(home)}\n`);
      default:
        return show(context);
    }
  },
});

const offers: Readonly<Partial<Record<string, NonNullable<ArgShape['offer']>>>> = {
  server: 'server',
  hardware: 'server',
  ca: 'file',
  username: 'username',
};

function offerFor(verb: string | undefined, setting: string | undefined): Pick<ArgShape, 'choices' | 'offer'> | null {
  if (setting !== undefined) {
    const offer = verb === 'set' && Object.hasOwn(offers, setting) ? offers[setting] : undefined;
    return offer === undefined ? null : { offer };
  }
  if (verb === 'use') return { offer: 'profile' };
  return verb === 'set' || verb === 'get' || verb === 'unset' ? { choices: names } : null;
}

async function picked(context: Context): Promise<string> {
  const { home, profile } = context.settings;
  const stored = readConfig(home);
  const profiles = knownProfiles(home, stored).map(name => ({
    value: name,
    cells: [name, profileOf(stored, name).server ?? 'the local daemon', name === profile ? 'in use' : ''],
  }));
  const { pickProfile } = await import('../../framework/pickers/listed.ts');
  return pickProfile(context, profiles);
}

/** With --json the stored settings as they are now. */
async function reportChange(context: Context, words: string): Promise<void> {
  const { out, settings, globals } = context;
  if (!globals.json) return out.notice(words);
  const stored = readConfig(settings.home);
  await out.document({ profile: stored.profile, profiles: stored.profiles });
}

function settingOf(name: string): ProfileSetting {
  const found = names.find(known => known === name);
  if (found) return found;
  throw usage(`unknown setting "${name}"`, `settings are ${names.join(', ')}`);
}

async function checked(setting: ProfileSetting, value: string): Promise<string> {
  if (value === '') throw usage(`${setting} cannot be empty`, `to remove it: devmgr config unset ${setting}`);
  if (setting === 'server') return serverAddresses(value);
  if (setting === 'hardware') return serverAddress(value);
  if (setting === 'printer') (await import('../enrollment/labels/printer.ts')).namedPrinter(value, 'printer', 1);
  return setting === 'ca' ? resolve(value) : value;
}

async function get({ out, settings, globals }: Context, setting: ProfileSetting): Promise<void> {
  const value = profileOf(readConfig(settings.home), settings.profile)[setting] ?? null;
  if (globals.json) return out.document(value);
  if (value === null)
    throw new Fault(
      'absent',
      `${setting} is not set in profile ${settings.profile}`,
      `set it: devmgr config set ${setting} VALUE`,
    );
  await out.text(`${safe(value)}\n`);
}

async function show(context: Context): Promise<void> {
  const { out, settings, globals } = context;
  const login = readLoginName(settings, context.identity());
  const { token, ...shown } = settings;
  if (globals.json)
    return out.document({
      ...shown,
      tokenFromEnvironment: token !== null,
      loggedInAs: login,
      file: configFile(settings.home),
    });
  await out.text(
    card(
      [
        ['profile', settings.profile],
        [
          'server',
          settings.server === null ? 'the local daemon' : `${safe(settings.server)} (from the ${settings.serverFrom})`,
        ],
        [
          'hardware',
          settings.hardware === null
            ? 'the registry if it is on this machine, else the local daemon'
            : safe(settings.hardware),
        ],
        ['certificates', settings.ca === null ? "the system's" : safe(settings.ca)],
        ['printer', settings.printer === null ? '-' : safe(settings.printer)],
        ['logged in as', login === null ? '-' : safe(login)],
        ['token', token === null ? 'from the stored login' : 'from DEVMGR_TOKEN'],
        ['home', safe(settings.home)],
        ['file', safe(configFile(settings.home))],
      ],
      out.io.columns,
    ),
  );
}

async function profiles({ out, settings, globals }: Context): Promise<void> {
  const stored = readConfig(settings.home);
  const all = knownProfiles(settings.home, stored);
  if (globals.json)
    return out.document(all.map(name => ({ name, current: name === settings.profile, ...profileOf(stored, name) })));
  await out.text(
    all.map(name => `${globals.quiet ? '' : name === settings.profile ? '* ' : '  '}${safe(name)}\n`).join(''),
  );
}

/** Lists the maps that were saved with `--save-map`, or removes one. */
async function maps({ out, settings, globals }: Context, name?: string, action?: string): Promise<void> {
  const { home } = settings;
  if (name !== undefined) {
    if (action !== 'remove')
      throw usage(`"${action}" is not possible with a map`, 'to remove it: devmgr config maps NAME remove');
    savedMap(home, name, []);
    await storeMap(home, name, null);
    return out.notice(`The map ${name} is removed.`);
  }
  const saved = Object.entries(savedMaps(home));
  if (globals.json) return out.document(saved.map(([map, texts]) => ({ name: map, ...texts })));
  const lineOf = ({ map, where, columns }: (typeof saved)[number][1]) => [
    ...map.map(text => `--map "${text}"`),
    ...where.map(text => `--where "${text}"`),
    ...(columns ? [`--columns ${columns}`] : []),
  ];
  await out.text(saved.map(([map, texts]) => `${safe(map)}  ${safe(lineOf(texts).join(' '))}\n`).join(''));
}
