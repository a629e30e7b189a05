/** Where the programs for a stopped registry find its files. */
import { refusingObjects } from '../blobs/open-blobs.ts';
import type { S3Target } from '../blobs/s3/target.ts';
import type { Home } from '../home/home.ts';
import type { Reader } from '../store/store.ts';
import { type BlobReport, checkBlobs } from './check-blobs.ts';
import { FolderFiles } from './folder-files.ts';

/** What a restore does with stored files, wherever they are. */
export interface RestoreFiles {
  /** Compares the files of a registry with their records. */
  check(reader: Reader): Promise<BlobReport>;
  /** Brings back files that an earlier restore kept with the registry it replaced: that may be the one to be restored now. */
  bringBack(restored: Reader): Promise<void>;
  /** Keeps the files that the restored registry does not know with the previous one. Returns the function that removes them. */
  keepUnknown(restored: Reader, label: string): Promise<() => Promise<void>>;
  close(): void;
}

/**
 * The files of a registry: in the object store, or without one in a folder of the home. Rejects with `StartRefused` if the object store
 * cannot be used.
 */
export async function filesOf(home: Home, objectStore: S3Target | null): Promise<RestoreFiles> {
  if (objectStore === null) return new FolderFiles(home);
  // Its client is large: a registry with a folder never loads it.
  const { KeptObjects } = await import('../blobs/s3/kept-objects.ts');
  const objects = await refusingObjects(`the files in ${objectStore.bucket} cannot be read`, () =>
    KeptObjects.open(objectStore),
  );
  return {
    check: reader => checkBlobs(reader, blob => objects.digest(blob)),
    bringBack: restored => objects.bringBack(names => restored.knownBlobs(names)),
    keepUnknown: (restored, label) => objects.keepUnknown(names => restored.knownBlobs(names), label),
    close: () => objects.close(),
  };
}
