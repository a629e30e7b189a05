/** The flags that select devices, for every command that works on a selection. */
import type { QueryOf } from '../../../contract/define.ts';
import { type DeviceFilterName, deviceFilters, type FilterDescription } from '../../../contract/device-filters.ts';
import { parseInstant } from '../../../contract/instant.ts';
import type { Routes } from '../../../contract/routes.ts';
import { usage } from '../../fault.ts';
import { definedFields } from '../define.ts';
import { camel, type FlagShape, type FlagShapes, type FlagValues } from '../flags.ts';
import { tagFlag, tagOf } from './tags.ts';

const { deviceType, status, proof } = deviceFilters;

/** Selects devices that match all flags. */
export const filterFlags = {
  type: { value: 'TYPE', field: 'deviceType', many: true, choices: deviceType.values, help: 'only this type' },
  status: { value: 'STATUS', many: true, choices: status.values, help: 'only devices in this state' },
  search: {
    value: 'WORDS',
    help: 'words that all occur in id, serial number, manufacturer, model, user, note or tags; maker:, model:, person: or tag: before a word restricts it',
  },
  keyword: { value: 'TEXT', short: 'k', help: 'part of a deviceId or serial number, in upper or lower case' },
  serial: {
    value: 'SERIAL',
    field: 'serialNumber',
    help: 'only the device with this serial number (complete, not a part)',
  },
  manufacturer: { value: 'NAME', offer: 'manufacturer', help: 'only this manufacturer (complete, not a part)' },
  model: { value: 'NAME', help: 'only this model (complete, not a part)' },
  user: { value: 'USER', field: 'userId', offer: 'holder', help: 'only devices bound to this user' },
  'created-from': {
    value: 'TIME',
    field: 'createdFrom',
    help: 'registered at this time or later, such as 2026-03-01 or "2026-03-01 08:30"',
  },
  'created-to': { value: 'TIME', field: 'createdTo', help: 'registered before this time' },
  'last-used-before': { value: 'TIME', field: 'lastUsedBefore', help: 'not used since this time' },
  'code-expires-before': {
    value: 'TIME',
    field: 'codeExpiresBefore',
    help: 'activation code expires before this time',
  },
  proof: { value: 'GRADE', many: true, choices: proof.values, help: 'only keys with a proof of this grade' },
  aaguid: { value: 'AAGUID', help: 'only keys of this FIDO model' },
  advisory: { value: 'ID', help: 'only keys affected by this security advisory, such as YSA-2024-03' },
  tag: { ...tagFlag('only devices with this tag; if repeated, only devices with all of them'), field: 'tag' },
} as const satisfies FlagShapes;

type ListFilter = Partial<QueryOf<Routes['exportDevices']>>;

/** How the value of a flag becomes that of a filter, by its kind. */
const readers: Readonly<Record<FilterDescription['kind'], (value: never, flag: string) => unknown>> = {
  set: (values: readonly string[]) => (values.length ? values : undefined),
  text: (value: string | undefined) => value,
  time: (value: string | undefined, flag) => timeOf(flag, value),
  tag: (pairs: readonly string[], flag) => (pairs.length ? pairs.map(pair => filterTextOf(flag, pair)) : undefined),
};

/** A flag as it was typed, for messages. */
type Spelling = (name: string) => string;

/** The query for the flags. A time is ISO 8601; without a zone it is local, without a time of day it is the start of the day. */
export function filterOf(flags: FlagValues<typeof filterFlags>, spelled: Spelling = name => `--${name}`): ListFilter {
  const values: Readonly<Record<string, unknown>> = { ...flags, aaguid: flags.aaguid?.toLowerCase() };
  const filters = Object.entries<FlagShape>(filterFlags).map(([flag, { field = flag }]) => {
    const { kind } = deviceFilters[field as DeviceFilterName];
    return [field, readers[kind](values[camel(flag)] as never, spelled(flag))];
  });
  return definedFields(Object.fromEntries(filters));
}

function filterTextOf(flag: string, pair: string): string {
  const { name, value } = tagOf(flag, pair);
  return `${name}:${value}`;
}

const hours: Readonly<Record<string, number>> = { h: 1, d: 24, w: 7 * 24 };

/** The time that a flag names, as a time or as an age such as 90d. Throws a usage fault if it is neither. */
export function timeOrAge(flag: string, text: string): Date {
  const [, amount, unit] = /^(\d{1,5})([hdw])$/.exec(text) ?? [];
  if (unit !== undefined) return new Date(Date.now() - Number(amount) * hours[unit]! * 3_600_000);
  const time = parseInstant(text) ?? localTime(text);
  if (!time) throw usage(`${flag} must be an age such as 36h, 90d or 12w, or a time such as 2026-03-01, not "${text}"`);
  return time;
}

const localForm = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2}))?$/;

/** The time that a flag names; it throws a usage fault if that is not one. */
function timeOf(flag: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const time = parseInstant(text) ?? localTime(text);
  if (!time)
    throw usage(`${flag} must be a time such as 2026-03-01, "2026-03-01 08:30" or 2026-03-01T08:30:00Z, not "${text}"`);
  return time;
}

/** A local day or minute; null if the text is neither, or states a day that its month does not have. */
function localTime(text: string): Date | null {
  const parts = localForm.exec(text)?.slice(1).map(Number);
  if (!parts) return null;
  const [year, month, day, hour, minute] = parts as [number, number, number, number, number];
  const isClock = Number.isNaN(hour) || (hour < 24 && minute < 60);
  const time = new Date(year, month - 1, day, hour || 0, minute || 0);
  return isClock && time.getMonth() === month - 1 && time.getDate() === day ? time : null;
}
