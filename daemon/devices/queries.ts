/** Queries about devices: filters, parts of lists, statistics. */
import type { DeviceFilterName, DeviceFilterValue } from '../../src/contract/device-filters.ts';
import type { SearchWord } from '../../src/contract/search-words.ts';
import type { Tag } from '../../src/contract/tags.ts';
import { countedTags, type DeviceSort, type DeviceStatus, type DeviceType } from '../../src/contract/values.ts';
import type { Window } from '../store/queries.ts';

/**
 * Devices match if they match every field that is given: see `deviceFilters`. Times are milliseconds since 1970. `tags`: each at most
 * once, at most 16. `keyword`: ASCII letters match in upper and lower case.
 */
export type DeviceFilter = {
  readonly [N in Exclude<DeviceFilterName, 'search'> as N extends 'tag' ? 'tags' : N]?:
    | Readonly<DeviceFilterValue<N, number, Tag>>
    | undefined;
} & { readonly search?: readonly SearchWord[] | undefined };

/** A part of the sorted list of matching devices. */
export interface DeviceQuery extends DeviceFilter, Window {
  /**
   * Nulls come last in both directions; ties are sorted by number in the same direction. `deviceId` sorts as a number, texts by
   * their code points.
   */
  readonly sortBy: DeviceSort;
}

/** Data that a scan of devices needs beside its rows. */
export interface ScanOptions {
  /** By descending number; by default ascending. */
  readonly descending?: boolean | undefined;
  /**
   * Called once, before the first batch, with the names of all tags that the matching devices have, sorted and as of the same
   * moment; at most `limit + 1` of them.
   */
  readonly tagNames?: { readonly limit: number; readonly found: (names: readonly string[]) => void } | undefined;
}

/** The times that statistics are counted by, in milliseconds since 1970. */
export interface StatisticsQuery {
  /** Hours from this one on are counted; a whole hour. */
  readonly since: number;
  /** Codes of INACTIVE devices that expire after the first time and not after the second are counted. */
  readonly codesExpireAfter: number;
  readonly codesExpireBy: number;
  /** Codes of INACTIVE devices that have expired or expire not after this time are counted. */
  readonly codesDueBy: number;
  /** ACTIVE devices that were last used, or if never used activated, before this time are counted. */
  readonly unusedSince: number;
}

/** Fields by which devices are tallied, beside their state. `model`: manufacturer and model, with a line break between them. */
const tallySubjects = ['model', 'advisory', ...countedTags] as const;

/** A number of devices with a common value. */
export interface Tally {
  /** `day`: the devices that came into the state on a day, less those that left it; `value` is the number of the day since 1970 (UTC). */
  readonly subject: (typeof tallySubjects)[number] | 'day';
  readonly value: string;
  readonly status: DeviceStatus;
  readonly count: number;
}

/** Counts of devices, all of one moment. */
export interface DeviceStatistics {
  /** For each subject the values with the most devices, and the days from `since` on. */
  readonly tallies: readonly Tally[];
  /** For each combination of type, state and manufacturer that devices have. */
  readonly counts: readonly {
    readonly deviceType: DeviceType;
    readonly status: DeviceStatus;
    readonly manufacturer: string;
    readonly count: number;
  }[];
  /** Number of registrations by hour: its start in milliseconds since 1970. Hours without one are left out. */
  readonly registrations: ReadonlyMap<number, number>;
  readonly codesExpiring: number;
  readonly codesDue: number;
  readonly unused: number;
}
