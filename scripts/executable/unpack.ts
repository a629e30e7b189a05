// Native modules can only be loaded from a file. Where the system lets a file go that it has loaded, nothing stays behind
// (`loadOnce`); Windows does not, and there a file is kept, and held against what the executable carries at each start
// (`loadKept`).
import { createHash, randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Loads the file as a native module and answers what it exports. */
export type Open = (file: string) => unknown;

export interface CarriedFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/**
 * In a new folder that only this user may enter, under a name that cannot be guessed. It is removed once the module is loaded.
 * The next place serves where one is absent, read-only, full, or mounted so that no program runs from it.
 */
export function loadOnce({ name, bytes }: CarriedFile, places: readonly string[], open: Open): unknown {
  const refused: string[] = [];
  for (const place of places) {
    let folder: string | null = null;
    try {
      folder = mkdtempSync(join(place, 'devmgr-'));
      const file = join(folder, `${name}.node`);
      writeFileSync(file, bytes, { mode: 0o700, flag: 'wx' });
      return open(file);
    } catch (error) {
      if (!isOfThePlace(error)) throw error;
      refused.push(`${place}: ${(error as Error).message}`);
    } finally {
      if (folder) rmSync(folder, { recursive: true, force: true });
    }
  }
  throw new Error(
    `the native module ${name} found no folder to be loaded from. Set TMPDIR to a folder that this user may write to, on a disk that allows programs. Tried: ${refused.join('; ')}`,
  );
}

function isOfThePlace(error: unknown): boolean {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return /^(ENOENT|ENOTDIR|EACCES|EPERM|EROFS|ENOSPC|EDQUOT)$/.test(code) || /failed to map segment/.test(message);
}

/**
 * In a permanent folder of this user, under a name made of its digest. A file whose content differs from what is carried is never
 * loaded but replaced, and `notice` reports it.
 */
export function loadKept(carried: CarriedFile, base: string, open: Open, notice: (text: string) => void): unknown {
  const wanted = digestOf(carried.bytes);
  const folder = privateFolder(join(base, `native-${wanted.slice(0, 16)}`));
  const file = join(folder, `${carried.name}.node`);
  const found = digestAt(file);
  if (found !== null && found !== wanted) notice(`${file} had been changed and was not loaded; it is unpacked again`);
  if (found !== wanted) place(file, carried.bytes, wanted);
  return open(file);
}

/** Created if it is missing; refused if it is a link, belongs to another user, or is open to others. */
function privateFolder(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stat = lstatSync(folder);
  const foreign = process.getuid !== undefined && stat.uid !== process.getuid();
  const open = process.platform !== 'win32' && (stat.mode & 0o077) !== 0;
  if (!stat.isDirectory() || foreign || open)
    throw new Error(`${folder} is not a private folder of this user; remove it, and it is created again`);
  return folder;
}

/** Null if there is no file; a link counts as a changed file. */
function digestAt(file: string): string | null {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  return stat.isFile() ? digestOf(readFileSync(file)) : 'no file';
}

/** Writes aside and renames: of many first starts at once each puts the same file in place. */
function place(file: string, bytes: Uint8Array, wanted: string): void {
  const aside = `${file}.${randomBytes(8).toString('hex')}`;
  try {
    writeFileSync(aside, bytes, { mode: 0o700, flag: 'wx' });
    renameSync(aside, file);
  } catch (error) {
    rmSync(aside, { force: true });
    // Windows replaces no file that is loaded: another start was faster, or what is loaded there is not ours.
    if (digestAt(file) !== wanted) throw error;
  }
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
