/** File operations that a power cut must not undo, and copies that take no room. */
import { copyFile, link, open } from 'node:fs/promises';

/** Puts the content of a file on the disk. */
export async function syncFile(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Puts the names in a folder on the disk: a new file survives a power cut only after this. Windows has no such call and needs none. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform !== 'win32') await syncFile(path);
}

/** Gives a file a second name, or copies it if the file system has no links. Returns false if there is no such file. */
export async function linkOrCopy(file: string, to: string): Promise<boolean> {
  try {
    await link(file, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    await copyFile(file, to);
  }
  return true;
}
