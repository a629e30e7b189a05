/** What the page reads, and the rules for files that the daemon applies as well. */
import type { AppVersion } from '../../../src/contract/apps.ts';
import { Code } from '../../../src/contract/codes.ts';
import type { DataOf } from '../../../src/contract/define.ts';
import type { Routes } from '../../../src/contract/routes.ts';
import { type Platform, platformNames, platforms } from '../../../src/contract/values.ts';
import { Problem } from '../../api/problem.ts';
import { call } from '../../api/request.ts';

/** Versions on one page of the list. */
const SIZE = 50;

/** A page of the list, with the newest version of each of its platforms. */
export interface PackageList extends DataOf<Routes['listAppVersions']> {
  /** Ids of the newest versions. */
  readonly newest: ReadonlySet<string>;
}

/** Reads a page of the list, the last upload first. One more request for each platform on the page finds its newest version. */
export async function listPackages(page: number, platform: string, signal: AbortSignal): Promise<PackageList> {
  const found = await call('listAppVersions', { query: { page, size: SIZE, platform } }, { signal });
  const shown = [...new Set(found.list.map(app => app.platform))];
  const newest = await Promise.all(shown.map(each => newestOf(each, signal)));
  return { ...found, newest: new Set(newest.filter(id => id !== null)) };
}

async function newestOf(platform: Platform, signal: AbortSignal): Promise<string | null> {
  try {
    return (await call('getLatestAppVersion', { query: { platform } }, { signal })).latest.versionId;
  } catch (error) {
    if (error instanceof Problem && error.code === Code.versionNotFound) return null;
    throw error;
  }
}

/** The extension of a file name in lower case, without the dot. */
const extensionOf = (name: string): string => /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';

/** The platform of a file by its extension; null if it is not an installer package. */
export const platformOf = (name: string): Platform | null =>
  platformNames.find(each => (platforms[each] as readonly string[]).includes(extensionOf(name))) ?? null;

/** The version that a new package would repeat, among the last 100 of its platform; null if there is none. The daemon looks at all of them. */
export async function existing(file: File, platform: Platform, version: string): Promise<AppVersion | null> {
  const { list } = await call('listAppVersions', { query: { size: 100, platform } });
  return list.find(app => app.version === version && extensionOf(app.fileName) === extensionOf(file.name)) ?? null;
}
