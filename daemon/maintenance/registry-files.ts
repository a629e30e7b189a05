/** Where the programs for a stopped registry find its files. */
import type { Home } from '../home/home.ts';
import type { S3Target } from '../home/object-store-target.ts';
import { openKept } from '../start/file-store.ts';
import { checkBlobs } from './check-blobs.ts';
import { folderFiles, type RestoreFiles } from './folder-files.ts';

/**
 * The files of a registry: in the object store, or without one in a folder of the home. Rejects with `StartRefused` if the object store
 * cannot be used.
 */
export async function filesOf(home: Home, objectStore: S3Target | null): Promise<RestoreFiles> {
  if (objectStore === null) return folderFiles(home);
  const objects = await openKept(objectStore);
  return {
    check: reader => checkBlobs(reader, blob => objects.digest(blob)),
    bringBack: restored => objects.bringBack(names => restored.knownBlobs(names)),
    keepUnknown: (restored, label) => objects.keepUnknown(names => restored.knownBlobs(names), label),
    close: () => objects.close(),
  };
}
