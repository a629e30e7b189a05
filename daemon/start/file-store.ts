/** The only place that chooses where stored files are: the folder in the home, or an object store. */
import { every } from '../base/concurrency.ts';
import { StartRefused } from '../base/start-refused.ts';
import { openBlobFolder } from '../files/blob-folder.ts';
import type { KeptObjects, ObjectStore } from '../files/object-store.ts';
import type { S3Target } from '../home/object-store-target.ts';
import type { Blobs } from '../requests/blobs.ts';
import { StoreFailure } from '../store/commit.ts';
import type { SharedWork } from '../store/store.ts';
import { engineFor, objectStores } from './engines.ts';

/**
 * Opens the object store, or `folder` if there is none. `hasOthers`: other daemons may serve the same registry, each with a folder
 * of its own. Rejects with `StartRefused` if the object store cannot be used.
 */
export async function openBlobs(
  objectStore: S3Target | null,
  { folder, hasOthers }: { readonly folder: string; readonly hasOthers: boolean },
  notice: (message: string) => void,
): Promise<Blobs> {
  if (objectStore === null) return openBlobFolder(folder, { notice, hasOthers });
  return inObjectStore(`the files cannot be stored in ${objectStore.bucket}`, engine =>
    engine.openBlobs(objectStore, { notice }),
  );
}

/** The files of a registry that no daemon serves. Rejects with `StartRefused` if the object store cannot be used. */
export const openKept = (objectStore: S3Target): Promise<KeptObjects> =>
  inObjectStore(`the files in ${objectStore.bucket} cannot be read`, engine => engine.openKept(objectStore));

/** Rejects with `StartRefused`, whose message begins with `problem`, where `open` rejects with `StoreFailure`. */
async function inObjectStore<T>(problem: string, open: (engine: ObjectStore) => Promise<T>): Promise<T> {
  const engine = await engineFor('s3:', objectStores);
  try {
    return await open(engine);
  } catch (error) {
    if (!(error instanceof StoreFailure)) throw error;
    const refused = /\((?:4\d\d|301)\)/.test(error.message);
    const hint = refused
      ? 'compare --files with the bucket, its region and the keys in the environment'
      : 'check the endpoint of --files, the network, and the proxy if one is named';
    throw new StartRefused(refused ? 2 : 9, `${problem}: ${error.message}`, hint);
  }
}

/** Milliseconds between two sweeps of an object store that several daemons share. */
const SWEEP_MS = 60 * 60 * 1000;

/** Sweeps now and, if the files are shared with other daemons, every hour. Returns the function that stops this. */
export async function keepSwept(
  blobs: Blobs,
  known: (names: readonly string[]) => Promise<ReadonlySet<string>>,
  warn: (message: string, error: unknown) => void,
): Promise<() => void> {
  await blobs.sweep(known);
  if (!blobs.shared) return () => {};
  const sweep = () => blobs.sweep(known).catch(error => warn('files without a record could not be removed', error));
  return every(SWEEP_MS, () => void sweep());
}

/** Milliseconds between two looks for other daemons. Only a warning depends on it, and the database sends no event. */
const LOOK_MS = 60_000;

/**
 * Warns once if other daemons use the registry while its files are in the home of this daemon, where the others cannot read them. Returns
 * the function that ends the watch.
 */
export function watchOthers(blobs: Blobs, work: SharedWork | undefined, warn: (message: string) => void): () => void {
  if (blobs.shared || work === undefined) return () => {};
  const look = async () => {
    if ((await work.users()) < 2) return;
    stop();
    warn(
      'other daemons use this database, and do not have the files in the home of this one: use an object store (--files)',
    );
  };
  // A database that cannot be reached is reported by those who need it.
  const stop = every(LOOK_MS, () => void look().catch(() => {}));
  void look().catch(() => {});
  return stop;
}
