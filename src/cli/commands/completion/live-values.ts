/** Values that only the server or the home knows. */
import { defaultHost, defaultPort } from '../../../contract/local.ts';
import type { DeviceStatus } from '../../../contract/values.ts';
import type { Context } from '../../context.ts';
import type { Offer } from '../../flags.ts';
import { knownProfiles, type ProfileSetting, readConfig } from '../../settings/profiles.ts';
import type { Word } from './typed.ts';

/** Devices that are offered: as many as can be looked through; typing on finds the others. */
const maxDevices = 50;

/** The values of a kind. None begins with a dash: the shell would insert a flag. Rejects if the server does not answer. */
export async function liveValues(
  offer: Offer,
  typed: string,
  states: readonly DeviceStatus[] | undefined,
  context: Context,
): Promise<readonly Word[]> {
  const words = await read(offer, typed, states, context);
  return words.filter(([word]) => typeof word === 'string' && !word.startsWith('-'));
}

async function read(
  offer: Offer,
  typed: string,
  states: readonly DeviceStatus[] | undefined,
  context: Context,
): Promise<readonly Word[]> {
  const { registry, settings } = context;
  const query = { size: 100 };
  switch (offer) {
    case 'device':
      return devices(context, typed, states);
    case 'user': {
      const { list } = await registry.call('listUsers', { query });
      return list.map((user): Word => [user.username, user.role]);
    }
    case 'holder': {
      const { list } = await registry.call('listDevices', { query });
      const holders = new Set(list.map(({ userId }) => userId).filter(id => id !== null));
      return [...holders].map((id): Word => [id, '']);
    }
    case 'token': {
      const { list } = await registry.call('listTokens', { query });
      return list.filter(token => token.revokedAt === null).map((token): Word => [token.name, token.role]);
    }
    case 'version': {
      const { list } = await registry.call('listApps', { query });
      return list.map((app): Word => [app.versionId, `${app.platform} ${app.version}`]);
    }
    case 'manufacturer': {
      const { byManufacturer } = await registry.call('statistics');
      return byManufacturer.map(({ manufacturer, count }): Word => [manufacturer, String(count)]);
    }
    case 'profile':
      return knownProfiles(settings.home, readConfig(settings.home)).map((name): Word => [name, '']);
    case 'server':
      return [
        [`http://${defaultHost}:${defaultPort}`, 'the usual address of the local daemon'],
        ...stored(context, 'server'),
      ];
    case 'username':
      return stored(context, 'username');
    default:
      return [];
  }
}

/** Values that any profile has for a setting. */
function stored({ settings }: Context, setting: ProfileSetting): readonly Word[] {
  const { profiles } = readConfig(settings.home);
  return Object.entries(profiles).flatMap(([name, profile]): Word[] =>
    profile[setting] === undefined ? [] : [[profile[setting], `profile ${name}`]],
  );
}

/** The newest devices by deviceId; if a part is typed, those that begin with it, also by serial number. */
async function devices(
  { registry }: Context,
  typed: string,
  states: readonly DeviceStatus[] | undefined,
): Promise<readonly Word[]> {
  const query = { size: maxDevices, ...(typed ? { keyword: typed } : {}), ...(states ? { status: [...states] } : {}) };
  const { list } = await registry.call('listDevices', { query });
  return list.flatMap(({ deviceId, serialNumber, status, userId }): Word[] => [
    [deviceId, [serialNumber, status, userId].filter(Boolean).join(' ')],
    ...(typed ? [[serialNumber, [deviceId, status, userId].filter(Boolean).join(' ')] as const] : []),
  ]);
}
