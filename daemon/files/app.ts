/** A version of the client application: the record, its change, and which version a client should have. Decisions only, no I/O. */

import { Code } from '../../src/contract/codes.ts';
import { versionIds } from '../../src/contract/ids.ts';
import { type Platform, platformNames, platforms } from '../../src/contract/values.ts';
import { inputRefusal, Refusal } from '../base/decision.ts';
import { cleanFileName, extensionOf } from '../base/file-name.ts';
import type { Entry } from '../store/journal.ts';
import { compareVersions } from './versions.ts';

/** An uploaded version as it is stored. */
export interface AppRecord {
  /** The number in the id APP-n: from 1, without gaps. */
  readonly number: number;
  readonly platform: Platform;
  readonly version: string;
  readonly versionName: string | null;
  readonly changelog: string | null;
  readonly forceUpdate: boolean;
  readonly minSupportVersion: string | null;
  readonly fileName: string;
  /** Lower case, without the dot. */
  readonly extension: string;
  /** Bytes. */
  readonly fileSize: number;
  /** Lower-case hex. */
  readonly sha256: string;
  /** Name of the user. */
  readonly uploadedBy: string;
  /** Milliseconds since 1970 (UTC). */
  readonly createdAt: number;
  /** Name of the file among the stored blobs. */
  readonly blob: string;
}

/** Record of an upload. */
export type NewApp = Omit<AppRecord, 'number' | 'createdAt'>;

/** The result is `duplicate` if the platform has this version with this extension. */
export interface AppChange {
  readonly kind: 'app.add';
  readonly app: NewApp;
  readonly entry: Entry;
}

/** The identity of an upload. */
export type AppIdentity = Pick<AppRecord, 'platform' | 'version' | 'extension' | 'fileName'>;

/** `givenName` is the name of the file as the client sent it. */
export function identify(
  form: { readonly platform: string; readonly version: string },
  givenName: string,
): AppIdentity | Refusal {
  const platform = platformOf(form.platform);
  if (platform instanceof Refusal) return platform;
  const fileName = cleanFileName(givenName);
  const extension = extensionOf(fileName);
  if (!isPackageOf(platform, extension))
    return new Refusal(
      Code.uploadFailed,
      `the file needs an extension of ${platform} (${packagesOf(platform)}); it has ${extension ? `.${extension}` : 'none'}`,
    );
  return { platform, version: form.version, extension, fileName };
}

/** Adds an uploaded version. */
export function upload(app: NewApp): AppChange {
  const { platform, version, fileName, fileSize, sha256 } = app;
  return {
    kind: 'app.add',
    app,
    entry: { type: 'APP_VERSION_UPLOADED', data: { platform, version }, detail: { fileName, fileSize, sha256 } },
  };
}

/** The refusal of an upload that exists as version `number`. */
export function duplicateUpload({ platform, version, extension }: Omit<AppIdentity, 'fileName'>, number: number) {
  return new Refusal(
    Code.uploadFailed,
    `${platform} ${version} (.${extension}) has already been uploaded as ${versionIds.format(number)}`,
  );
}

/** Notice of an update to a client. */
interface LatestVersion {
  readonly latest: AppRecord;
  readonly updateAvailable: boolean;
  readonly forceUpdate: boolean;
}

/** Null if there is no version. Of versions that compare as equal, the one uploaded last is the newest. */
export function latestOf(apps: readonly AppRecord[], currentVersion: string | undefined): LatestVersion | null {
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

/** The platform that a client names, in upper or lower case. */
export function platformOf(text: string): Platform | Refusal {
  const name = text.toUpperCase();
  return Object.hasOwn(platforms, name)
    ? (name as Platform)
    : inputRefusal('platform', `must be one of ${platformNames.join(', ')}`);
}

/** The extension that a client names, with or without the dot, in upper or lower case. */
export function packageExtension(platform: Platform, text: string): string | Refusal {
  const extension = text.replace(/^\./, '').toLowerCase();
  if (isPackageOf(platform, extension)) return extension;
  return inputRefusal('extension', `must be one of ${platform}: ${packagesOf(platform)}`);
}

/** Whether installer packages of the platform have this extension (lower case, without the dot). */
export const isPackageOf = (platform: Platform, extension: string): boolean =>
  (platforms[platform] as readonly string[]).includes(extension);

const packagesOf = (platform: Platform): string => platforms[platform].map(name => `.${name}`).join(', ');
