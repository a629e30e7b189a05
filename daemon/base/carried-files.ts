/** Files that come with the program beside its code. Nothing is fetched from a network. */
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { getRawAsset, isSea } from 'node:sea';

/** A folder of such files. */
export interface CarriedFolder {
  /** Its name in the single executable. */
  readonly name: string;
  /** Where it may be, seen from a folder above the running code: in the build beside its parts, and for the sources. */
  readonly places: readonly string[];
  /** A file that it has. */
  readonly holds: string;
  /** Of the error if this copy of the program came without the folder. */
  readonly contents: string;
}

/** A file of the folder; `name` has been checked by the caller. Rejects if the file or the folder is missing. */
export async function readCarried(folder: CarriedFolder, name: string): Promise<Buffer> {
  return isSea() ? Buffer.from(getRawAsset(`${folder.name}/${name}`)) : readFile(join(pathOf(folder), name));
}

/** A text that changes with the file; rejects as `readCarried` does. */
export async function carriedStamp(folder: CarriedFolder, name: string): Promise<string> {
  if (isSea()) return '';
  const { mtimeMs, size } = await stat(join(pathOf(folder), name));
  return `${mtimeMs} ${size}`;
}

/** Searched for at a request: the rest of the program runs without the files. */
function pathOf({ places, holds, contents }: CarriedFolder): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    const found = places.map(place => join(folder, place)).find(place => existsSync(join(place, holds)));
    if (found !== undefined) return found;
    if (dirname(folder) === folder) throw new Error(`this copy of the program came without ${contents}`);
  }
}
