/** Values that only the server or the home knows. */
import { deviceIds } from '../../../contract/ids.ts';
import { defaultHost, defaultPort } from '../../../contract/local.ts';
import type { DeviceStatus } from '../../../contract/values.ts';
import { knownProfiles, type ProfileSetting, readConfig } from '../../settings/profiles.ts';
import { localTime } from '../../terminal/when.ts';
import type { Context } from '../context.ts';
import type { Offer } from '../flags.ts';
import { ifKnown, personsWith } from '../persons.ts';
import type { Word } from './typed.ts';

/** Devices that are offered: as many as can be looked through; typing on finds the others. */
const maxDevices = 50;

/** Which values are wanted. */
interface WantedValues {
  readonly offer: Offer;
  /** Beginning of the values. */
  readonly typed: string;
  /** States of devices; any if absent. */
  readonly states: readonly DeviceStatus[] | undefined;
  /** The arguments before the cursor. */
  readonly operands: readonly string[];
}

type Values = readonly Word[];

/** The values of a kind. None begins with a dash: the shell would insert a flag. Rejects if the server does not answer. */
export async function liveValues(wanted: WantedValues, context: Context): Promise<Values> {
  const words = (await readers[wanted.offer]?.(context, wanted)) ?? [];
  return words.filter(([word]) => typeof word === 'string' && !word.startsWith('-'));
}

/** A word for each item of a list. */
const wordsOf = async <T>(answer: Promise<{ readonly list: readonly T[] }>, word: (item: T) => Word): Promise<Word[]> =>
  (await answer).list.map(word);

const query = { size: 100 };

/** The values of each kind; the other kinds have none here. */
const readers: Readonly<Partial<Record<Offer, (context: Context, wanted: WantedValues) => Values | Promise<Values>>>> =
  {
    device: devices,
    user: ({ registry }) => wordsOf(registry.call('listUsers', { query }), user => [user.username, user.role]),
    async holder({ registry }, { typed }) {
      const [{ list }, persons] = await Promise.all([
        registry.call('listDevices', { query }),
        ifKnown(personsWith(registry, typed, { active: true })),
      ]);
      const words = new Map(list.flatMap(({ userId }): Word[] => (userId === null ? [] : [[userId, '']])));
      for (const { userName, name } of persons?.list ?? []) words.set(userName, name ?? '');
      return [...words];
    },
    async key({ hardware }) {
      const { list } = await hardware.call('listKeys');
      return list.flatMap(({ serialNumber, model }): Word[] => (serialNumber ? [[serialNumber, model ?? '']] : []));
    },
    async trusted({ registry }) {
      const { certificates } = await registry.call('listTrust');
      return certificates.map(({ fingerprint, label, subject }): Word => [fingerprint, label || subject]);
    },
    async token({ registry }) {
      const { list } = await registry.call('listTokens', { query });
      return list.filter(token => token.revokedAt === null).map((token): Word => [token.name, token.role]);
    },
    person({ registry }, { typed }) {
      const persons = registry.call('listPeople', { query: typed ? { ...query, keyword: typed } : query });
      return wordsOf(persons, person => [person.userName, person.name ?? '']);
    },
    webhook: ({ registry }) => wordsOf(registry.call('listWebhooks'), webhook => [webhook.webhookId, webhook.url]),
    provider: ({ registry }) => wordsOf(registry.call('listProviders'), provider => [provider.name, provider.type]),
    backup: backups,
    version: ({ registry }) =>
      wordsOf(registry.call('listAppVersions', { query }), app => [app.versionId, `${app.platform} ${app.version}`]),
    async manufacturer({ registry }) {
      const { byManufacturer } = await registry.call('getStatistics');
      return byManufacturer.map(({ manufacturer, count }): Word => [manufacturer, String(count)]);
    },
    profile: ({ settings: { home } }) => knownProfiles(home, readConfig(home)).map(name => [name, '']),
    station: ({ settings: { home } }) => Object.keys(readConfig(home).stations).map(name => [name, '']),
    server: context => [
      [`http://${defaultHost}:${defaultPort}`, 'the usual address of the local daemon'],
      ...stored(context, 'server'),
    ],
    username: context => stored(context, 'username'),
  };

/** Values that any profile has for a setting. */
function stored({ settings }: Context, setting: ProfileSetting): readonly Word[] {
  const { profiles } = readConfig(settings.home);
  return Object.entries(profiles).flatMap(([name, profile]): Word[] =>
    profile[setting] === undefined ? [] : [[profile[setting], `profile ${name}`]],
  );
}

/** The newest devices by deviceId; if a part is typed, those that begin with it, also by serial number. */
async function devices({ registry }: Context, { typed, states }: WantedValues): Promise<Values> {
  const query = { size: maxDevices, ...(typed ? { keyword: typed } : {}), ...(states ? { status: [...states] } : {}) };
  const { list } = await registry.call('listDevices', { query });
  return list.flatMap(({ deviceId, serialNumber, status, userId }): Word[] => [
    [deviceId, [serialNumber, status, userId].filter(Boolean).join(' ')],
    ...(typed ? [[serialNumber, [deviceId, status, userId].filter(Boolean).join(' ')] as const] : []),
  ]);
}

/** The backups of the device that is the first argument. */
async function backups({ registry }: Context, { operands: [name = ''] }: WantedValues): Promise<Values> {
  const isId = deviceIds.parse(name) !== null;
  const found = isId ? null : await registry.call('listDevices', { query: { serialNumber: name, size: 1 } });
  const deviceId = found === null ? name : found.list[0]?.deviceId;
  if (deviceId === undefined) return [];
  const { list } = await registry.call('listBackups', { params: { deviceId }, query: { size: 100 } });
  return list.map(
    (backup): Word => [backup.backupId, [localTime(backup.createdAt), backup.note].filter(Boolean).join(' ')],
  );
}
