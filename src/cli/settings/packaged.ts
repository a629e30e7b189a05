/** Files that come with the program, from the folder `packaging` of the project. */
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Fault, systemCode } from '../fault.ts';

/** The text of a file by its path in that folder, which lies above the sources as above what is built of them. */
export const readPackaged = (name: string): string => readAbove([`packaging/${name}`]);

/** The notices of all whose code is in this copy. */
export const readLicences = (): string => readAbove(['licences.txt', 'dist/licences.txt']);

function readAbove(names: readonly string[]): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    for (const name of names) {
      try {
        return readFileSync(join(folder, name), 'utf8');
      } catch (error) {
        if (systemCode(error) !== 'ENOENT' && systemCode(error) !== 'ENOTDIR') throw error;
      }
    }
    if (dirname(folder) === folder)
      throw new Fault(
        'failure',
        `this copy of the program came without ${basename(names[0]!)}`,
        'the package and the executable have it; in a clone, npm run build makes it',
      );
  }
}
