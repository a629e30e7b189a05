/** Files that come with the program, from the folder `packaging` of the project. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Fault, systemCode } from '../fault.ts';

/** The text of a file by its path in that folder, which lies above the sources as above what is built of them. */
export function readPackaged(name: string): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    try {
      return readFileSync(join(folder, 'packaging', name), 'utf8');
    } catch (error) {
      if (systemCode(error) !== 'ENOENT' && systemCode(error) !== 'ENOTDIR') throw error;
    }
    if (dirname(folder) === folder)
      throw new Fault(
        'failure',
        `this copy of the program came without ${name}`,
        'it is in the folder "packaging" of the project',
      );
  }
}
