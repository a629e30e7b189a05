/** Files that come with the program. */
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { getAsset, isSea } from 'node:sea';
import { failure, systemCode } from '../fault.ts';

/** The text of a file of the folder `packaging`, by its path there. */
export const readPackaged = (name: string): string => readText(`packaging/${name}`);

/** The license notices of all packages whose code is in this copy. */
export const readLicenses = (): string => readText('licenses.txt');

/** The font of printed receipts: DejaVu Sans. */
export const readFont = (): Buffer => readFile('DejaVuSans.ttf');

const readText = (name: string): string => readFile(name).toString();

/** The single executable contains the files; otherwise they are in a folder above the sources and the build. */
const readFile = (name: string): Buffer => (isSea() ? Buffer.from(getAsset(name)) : readAbove(name));

function readAbove(name: string): Buffer {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    for (const place of [name, join('dist', name)]) {
      try {
        return readFileSync(join(folder, place));
      } catch (error) {
        if (systemCode(error) !== 'ENOENT' && systemCode(error) !== 'ENOTDIR') throw error;
      }
    }
    if (dirname(folder) === folder)
      throw failure(
        `this copy of the program lacks ${basename(name)}`,
        'the package and the executable include it; in a clone, npm run build creates it',
      );
  }
}
