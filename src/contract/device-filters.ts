/**
 * The filters of device lists. The query of the interface, the filter of the store and the fields of the console are made from this
 * description. Plain data, without schemas.
 */

import { aaguidShape, aaguidText, proofGrades } from './key-values.ts';
import { searchBounds } from './limits.ts';
import { deviceStatuses, deviceTypes } from './values.ts';

/** A filter. */
export interface FilterDescription {
  /** `set`: one or more of `values`; `tag`: `name:value`, and all of several must match. */
  readonly kind: 'set' | 'text' | 'time' | 'tag';
  readonly values?: readonly string[];
  readonly description: string;
  readonly example?: string;
  /** Of a text: its most characters, if it has a bound of its own. */
  readonly maxLength?: number;
  /** Of a text: what it must match, and that in words that follow "must be". */
  readonly pattern?: string;
  readonly shape?: string;
  /** The field of a device that it is compared with. Absent if the filter is more than a comparison. */
  readonly field?: string;
  /** How they are compared; equality if absent. */
  readonly is?: '<' | '>=';
  /** Present if its times follow the clock, so that each request has another one. */
  readonly moving?: true;
}

/** The filters. A device is selected if it matches all that a request names. */
export const deviceFilters = {
  status: { kind: 'set', values: deviceStatuses, description: 'state', field: 'status' },
  deviceType: { kind: 'set', values: deviceTypes, description: 'type', field: 'deviceType' },
  proof: { kind: 'set', values: proofGrades, description: 'grade of the proof; none: without a proof' },
  search: {
    kind: 'text',
    maxLength: searchBounds.length,
    description: `words that all must occur, case-insensitive, in deviceId, serialNumber, manufacturer, model, userId, the name of the person (not for VIEWER), note or tags (name:value); maker:, model:, person: or tag: before a word restricts it to that; quotation marks keep a text with spaces together; at most ${searchBounds.words} words`,
    example: 'yubikey tag:site:bonn',
  },
  keyword: {
    kind: 'text',
    description: 'part of a deviceId or serial number, case-insensitive',
    example: '2026-0000',
  },
  tag: { kind: 'tag', description: 'a tag as name:value; may be repeated, and all must match' },
  manufacturer: { kind: 'text', description: 'manufacturer, exact match', field: 'manufacturer' },
  model: { kind: 'text', description: 'model, exact match', field: 'model' },
  userId: { kind: 'text', description: 'bound user, whole name, case-insensitive', field: 'userKey' },
  serialNumber: { kind: 'text', description: 'whole serial number, exact match', field: 'serialNumber' },
  aaguid: {
    kind: 'text',
    description: 'AAGUID of the proof, in lower case',
    pattern: `^${aaguidText}$`,
    shape: aaguidShape,
  },
  advisory: { kind: 'text', description: 'security advisory that applies to the key', example: 'YSA-2024-03' },
  createdFrom: { kind: 'time', description: 'registered at this time or later', field: 'createdAt', is: '>=' },
  createdTo: { kind: 'time', description: 'registered earlier', field: 'createdAt', is: '<' },
  codeExpiresBefore: {
    kind: 'time',
    description: 'the activation code expires earlier, in any state',
    field: 'activationCodeExpiresAt',
    is: '<',
    moving: true,
  },
  lastUsedBefore: {
    kind: 'time',
    description: 'last used earlier, or never used and activated earlier',
    moving: true,
  },
} as const satisfies Readonly<Record<string, FilterDescription>>;

type FilterTable = typeof deviceFilters;
/** Name of a filter. */
export type DeviceFilterName = keyof FilterTable;
/** Names of the filters whose descriptions are of this type. */
export type DeviceFilterNameOf<D> = { [N in DeviceFilterName]: FilterTable[N] extends D ? N : never }[DeviceFilterName];

/** The values of a filter in a request: `Time` is the type of times, `Tag` that of tags. */
export type DeviceFilterValue<N extends DeviceFilterName, Time, Tag> = FilterTable[N] extends {
  values: readonly (infer V)[];
}
  ? V[]
  : { readonly text: string; readonly time: Time; readonly tag: Tag[] }[Exclude<FilterTable[N]['kind'], 'set'>];

/** The names of the filters of one kind, in the order of the description. */
export const filtersOfKind = <const K extends FilterDescription['kind']>(kind: K) =>
  (Object.keys(deviceFilters) as DeviceFilterName[]).filter(
    (name): name is DeviceFilterNameOf<{ readonly kind: K }> => deviceFilters[name].kind === kind,
  );
