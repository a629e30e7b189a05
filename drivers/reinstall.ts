/** What replaces native modules that do not load, by the form in which the program was installed. */
import { isSea } from 'node:sea';

/** Where the Debian package puts the executable. */
const PACKAGED = '/usr/bin/devmgr';

/** `executable`: the program, if it is one file with Node in it; else null. */
export function howToReinstall(executable: string | null = isSea() ? process.execPath : null): string {
  if (executable === null) return 'run `npm ci` on this machine';
  if (executable === PACKAGED)
    return 'install the package again: `apt-get install --reinstall ./devmgr_VERSION_ARCH.deb`';
  return `replace ${executable} with the executable for this platform`;
}
