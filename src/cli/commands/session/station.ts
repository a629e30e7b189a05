/** Stations: what `enroll --station` repeats each day. */
import { usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import { camel } from '../../framework/flags.ts';
import { present } from '../../framework/present.ts';
import { checkProfileName, readConfig, type Station, storeStation } from '../../settings/profiles.ts';
import { safe, shellWord } from '../../terminal/text.ts';
import { isSet, stationFlags, stationNamed } from '../enrollment/enroll/station.ts';

/** Shows, stores and removes stations, in the settings of this user. */
export const configStation = command({
  description:
    'Stores flags of enroll under the name of a station; they replace the earlier ones of that station. enroll --station NAME uses them. Flags given to enroll override them. Without flags it shows the station; without NAME, all stations.',
  args: [{ name: 'NAME', help: 'name of the station', optional: true, offer: 'station' }],
  flags: { ...stationFlags, remove: { help: 'remove the station' } },
  brief: {
    flags: ['provider', 'pin', 'tag', 'spool', 'label', 'printer', 'receipt', 'require-proof', 'remove'],
    examples: 3,
  },
  examples: {
    'the flags of the desk': 'config station desk --label --printer 10.0.0.9 --provider company --pin random',
    'all stations': 'config station',
    'remove it': 'config station desk --remove',
  },
  async run({ args: [name], flags }, context) {
    const { home } = context.settings;
    const { remove, ...given } = flags;
    const values = given as Readonly<Record<string, Station[string]>>;
    const named = Object.entries(stationFlags).filter(([flag, shape]) => isSet(values[camel(flag)], shape));
    if (name === undefined) {
      if (remove || named.length > 0) throw usage('the name of the station is missing', 'devmgr config station NAME');
      return list(context);
    }
    checkProfileName(name);
    if (remove) {
      stationNamed(home, name);
      await storeStation(home, name, null);
      return present(context, {
        data: { station: name, removed: true },
        id: name,
        title: `${name} is removed`,
        rows: [],
      });
    }
    if (named.length > 0) {
      const { printer } = flags;
      if (printer !== undefined)
        (await import('../enrollment/labels/printer.ts')).namedPrinter(printer, '--printer', 1);
      await storeStation(home, name, Object.fromEntries(named.map(([flag]) => [flag, values[camel(flag)]!])));
    }
    const station = stationNamed(home, name);
    const next = named.length > 0 ? `devmgr enroll --station ${name}` : null;
    await present(context, {
      data: { station: name, flags: station },
      id: name,
      title: name,
      rows: [['enroll', wordsOf(station)]],
      next,
    });
  },
});

async function list({ out, settings }: Context): Promise<void> {
  const stations = Object.entries(readConfig(settings.home).stations);
  if (out.json) return out.document(stations.map(([station, flags]) => ({ station, flags })));
  if (stations.length === 0) return out.notice('No stations yet. Add one: devmgr config station NAME --label');
  await out.text(
    stations.map(([name, flags]) => `${safe(out.quiet ? name : `${name}: ${wordsOf(flags)}`)}\n`).join(''),
  );
}

/** The flags as they are typed. */
const wordsOf = (station: Station): string =>
  Object.entries(station)
    .flatMap(([flag, value]) =>
      value === true ? [`--${flag}`] : [value].flat().map(one => `--${flag} ${shellWord(String(one))}`),
    )
    .join(' ');
