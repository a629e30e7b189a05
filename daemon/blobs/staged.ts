import { readdir, rename } from 'node:fs/promises';

/** Where a restore keeps what it replaces: the database, and files that another registry does not know. A later one looks there. */
export const asideName = (path: string): string =>
  `${path}${ASIDE}${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
export const ASIDE = '.before-restore-';

/** Takes all kept files out of the way; false where there are none. */
export async function setAsideBlobs(blobs: string): Promise<boolean> {
  const entries = await readdir(blobs, { withFileTypes: true }).catch(() => []);
  if (!entries.some(entry => entry.isFile())) return false;
  await rename(blobs, asideName(blobs));
  return true;
}
