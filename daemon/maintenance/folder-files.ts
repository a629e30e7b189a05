/** The files of a restore, if they are in a folder of the home. */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { BEFORE_RESTORE } from '../blobs/blob-folder.ts';
import { linkOrCopy } from '../files.ts';
import type { Home } from '../home/home.ts';
import type { Reader } from '../store/store.ts';
import { type BlobReport, checkBlobs, digestInFolders } from './check-blobs.ts';

/** What a restore does with stored files, wherever they are. */
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
export class FolderFiles implements RestoreFiles {
  readonly #home: Home;

  constructor(home: Home) {
    this.#home = home;
  }

  async check(restored: Reader): Promise<BlobReport> {
    return checkBlobs(restored, digestInFolders(await this.#folders()));
  }

  async bringBack(restored: Reader): Promise<void> {
    const [blobs, ...folders] = await this.#folders();
    await mkdir(blobs, { recursive: true, mode: 0o700 });
    const present = new Set(await filesIn(blobs));
    for (const folder of folders) {
      const names = (await filesIn(folder)).filter(name => !present.has(name));
      for (const name of await restored.knownBlobs(names)) await linkOrCopy(join(folder, name), join(blobs, name));
    }
  }

  async keepUnknown(restored: Reader, label: string): Promise<() => Promise<void>> {
    const blobs = this.#home.path('blobs');
    const names = await filesIn(blobs);
    const known = await restored.knownBlobs(names);
    const unknown = names.filter(name => !known.has(name));
    if (unknown.length === 0) return async () => {};
    await mkdir(blobs + label, { mode: 0o700 });
    for (const name of unknown) await linkOrCopy(join(blobs, name), join(blobs + label, name));
    return async () => {
      for (const name of unknown) await rm(join(blobs, name), { force: true });
    };
  }

  close(): void {}

  async #folders(): Promise<[string, ...string[]]> {
    const blobs = this.#home.path('blobs');
    const kept = (await readdir(this.#home.dir)).filter(name => name.startsWith(`${basename(blobs)}${BEFORE_RESTORE}`));
    return [blobs, ...kept.map(name => join(this.#home.dir, name))];
  }
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter(entry => entry.isFile()).map(entry => entry.name);
}
