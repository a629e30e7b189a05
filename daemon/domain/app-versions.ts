/** What a client is told of the uploaded versions: pure decisions. */
import { type Platform, platforms } from '../../src/contract/apps.ts';
import { ApiError } from '../../src/contract/codes.ts';
import type { AppRecord } from '../store/store.ts';
import { compareVersions } from './versions.ts';

export interface Newest {
  readonly latest: AppRecord;
  readonly updateAvailable: boolean;
  readonly forceUpdate: boolean;
}

/** Null where there is no version. Of versions of the same age the one that was uploaded last is the newest. */
export function newest(apps: readonly AppRecord[], currentVersion: string | undefined): Newest | null {
  if (apps.length === 0) return null;
  const latest = apps.reduce((best, app) => (isAfter(app, best) ? app : best));
  if (currentVersion === undefined) return { latest, updateAvailable: false, forceUpdate: false };
  const newer = apps.filter(app => compareVersions(app.version, currentVersion) > 0);
  const unsupported =
    latest.minSupportVersion !== null && compareVersions(currentVersion, latest.minSupportVersion) < 0;
  return {
    latest,
    updateAvailable: newer.length > 0,
    forceUpdate: unsupported || newer.some(app => app.forceUpdate),
  };
}

function isAfter(app: AppRecord, other: AppRecord): boolean {
  const order = compareVersions(app.version, other.version);
  return order > 0 || (order === 0 && app.number > other.number);
}

/** A platform as named by a client, in any case. Refuses with 1001. */
export function platformOf(text: string): Platform {
  const name = text.toUpperCase();
  if (!Object.hasOwn(platforms, name))
    throw new ApiError(1001, `platform must be one of ${Object.keys(platforms).join(', ')}`);
  return name as Platform;
}

export const isPackageOf = (platform: Platform, extension: string): boolean =>
  (platforms[platform] as readonly string[]).includes(extension);

/** The extensions of a platform, as people write them. */
export const packagesOf = (platform: Platform): string => platforms[platform].map(name => `.${name}`).join(', ');
