/** Settings that a station repeats each day, joined with the flags of a run. */
import { namesIn } from '../../../../contract/names.ts';
import { Fault, usage } from '../../../fault.ts';
import { camel, type FlagShape, type FlagShapes, type FlagValues } from '../../../framework/flags.ts';
import { readConfig, type Station } from '../../../settings/profiles.ts';
import { enrollFlags } from './flags.ts';

const repeated = namesIn(
  'type manufacturer model bell big skip-attached prove require-proof receipt terms provider pin change-pin min-pin tag spool label printer lp template dpi map where columns encoding',
) satisfies readonly (keyof typeof enrollFlags)[];

type Stored = Pick<typeof enrollFlags, (typeof repeated)[number]>;
/** The flags of `enroll` that a station repeats. */
export const stationFlags = Object.fromEntries(
  repeated.map(name => [name, withoutRoster(enrollFlags[name])]),
) as Stored;

/** The columns of a roster are stored without one: the station gets another file each day. */
function withoutRoster({ needs, ...flag }: FlagShape): FlagShape {
  return needs === undefined || needs === 'roster' ? flag : { ...flag, needs };
}

/** Whether a value differs from that of an absent flag. */
export const isSet = (value: unknown, { default: usual }: FlagShape): boolean =>
  value !== undefined && value !== false && value !== usual && !(Array.isArray(value) && value.length === 0);

type EnrollValues = FlagValues<typeof enrollFlags>;

/** The flags of a run with those of its station. A flag of the run replaces that of the station, and those that it excludes. */
export function withStation(flags: EnrollValues, station: Station): EnrollValues {
  const shapes: FlagShapes = enrollFlags;
  const joined: Record<string, unknown> = { ...flags };
  const given = Object.keys(shapes).filter(name => isSet(joined[camel(name)], shapes[name]!));
  const excludes = (one: string, other: string) => shapes[one]?.conflicts?.includes(other) === true;
  for (const [name, value] of Object.entries(station)) {
    if (!Object.hasOwn(stationFlags, name))
      throw usage(`the station has the flag --${name}, which enroll cannot repeat`);
    if (shapes[name]!.needs === 'roster' && flags.roster === undefined) continue;
    const isLeftOut = given.some(other => other === name || excludes(other, name) || excludes(name, other));
    if (!isLeftOut) joined[camel(name)] = value;
  }
  for (const name of given) {
    const needed = shapes[name]!.needs;
    if (needed !== undefined && !isSet(joined[camel(needed)], shapes[needed]!))
      throw usage(`option '--${name}' needs option '--${needed}'`);
  }
  return joined as EnrollValues;
}

/** The station with that name; a fault if there is none. */
export function stationNamed(home: string, name: string): Station {
  const { stations } = readConfig(home);
  if (Object.hasOwn(stations, name)) return stations[name]!;
  throw new Fault('absent', `station "${name}" does not exist`, 'see: devmgr config station');
}
