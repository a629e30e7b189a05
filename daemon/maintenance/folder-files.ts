/** The files of a restore, if they are in a folder of the home. */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { linkOrCopy } from '../base/files.ts';
import { BEFORE_RESTORE } from '../files/blob-folder.ts';
import type { Home } from '../home/home.ts';
import type { Reader } from '../store/store.ts';
import { type BlobReport, checkBlobs, digestInFolders } from './check-blobs.ts';

/** Steps of a restore with stored files, wherever they are. */
export interface RestoreFiles {
  /** Compares the files of a registry with their records. */
  check(reader: Reader): Promise<BlobReport>;
  /** Brings back files that an earlier restore kept with the registry it replaced: that may be the one to be restored now. */
  bringBack(restored: Reader): Promise<void>;
  /** Keeps the files that the restored registry does not know with the previous one. Returns the function that removes them. */
  keepUnknown(restored: Reader, label: string): Promise<() => Promise<void>>;
  close(): void;
}

/** The folder of a home, and those that earlier restores have kept beside it. */
export function folderFiles(home: Home): RestoreFiles {
  const blobs = home.path('blobs');
  const kept = async () => {
    const names = (await readdir(home.dir)).filter(name => name.startsWith(`${basename(blobs)}${BEFORE_RESTORE}`));
    return names.map(name => join(home.dir, name));
  };
  return {
    check: async restored => checkBlobs(restored, digestInFolders([blobs, ...(await kept())])),
    async bringBack(restored) {
      const folders = await kept();
      await mkdir(blobs, { recursive: true, mode: 0o700 });
      const present = new Set(await filesIn(blobs));
      for (const folder of folders) {
        const names = (await filesIn(folder)).filter(name => !present.has(name));
        for (const name of await restored.knownBlobs(names)) await linkOrCopy(join(folder, name), join(blobs, name));
      }
    },
    async keepUnknown(restored, label) {
      const names = await filesIn(blobs);
      const known = await restored.knownBlobs(names);
      const unknown = names.filter(name => !known.has(name));
      if (unknown.length === 0) return async () => {};
      await mkdir(blobs + label, { mode: 0o700 });
      for (const name of unknown) await linkOrCopy(join(blobs, name), join(blobs + label, name));
      return async () => {
        for (const name of unknown) await rm(join(blobs, name), { force: true });
      };
    },
    close() {},
  };
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter(entry => entry.isFile()).map(entry => entry.name);
}
