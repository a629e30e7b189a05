/** File operations that a power cut must not undo, and copies that take no room. */
import { copyFile, link, mkdir, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { thisPlatform } from './platform.ts';

/** Creates a folder and its parents (0700). Node's recursive mkdir never returns below /proc, where each try is ENOENT. */
export async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (await isFolder(folder)) return;
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || (await isFolder(dirname(folder)))) throw error;
    await makeFolder(dirname(folder));
    await makeFolder(folder);
  }
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    found => found.isDirectory(),
    () => false,
  );

/** Puts the content of a file on the disk. */
export async function syncFile(path: string): Promise<void> {
  const handle = await open(path, thisPlatform.flushFlag);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Puts the names in a folder on the disk: a new file survives a power cut only after this. */
export async function syncFolder(path: string): Promise<void> {
  if (thisPlatform.flushedFolders) await syncFile(path);
}

/** Gives a file a second name, or copies it if the file system has no links. Returns false if the file does not exist. */
export async function linkOrCopy(file: string, to: string): Promise<boolean> {
  try {
    await link(file, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    await copyFile(file, to);
  }
  return true;
}
