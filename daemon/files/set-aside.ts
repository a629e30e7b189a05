import { readdir, rename } from 'node:fs/promises';

/** Where files go that a registry put in the place of another does not know; a restore looks for what it needs there. */
export const asideName = (blobs: string): string =>
  `${blobs}.before-restore-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;

/** Takes all kept files out of the way; false where there are none. */
export async function setAsideBlobs(blobs: string): Promise<boolean> {
  const entries = await readdir(blobs, { withFileTypes: true }).catch(() => []);
  if (!entries.some(entry => entry.isFile())) return false;
  await rename(blobs, asideName(blobs));
  return true;
}
