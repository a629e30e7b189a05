/** A place for files outside of the home, as the composition knows it: `daemon/start/engines.ts` lists the places. */
import type { S3Target } from '../home/object-store-target.ts';
import type { Blobs } from '../requests/blobs.ts';

export type KnownNames = (names: readonly string[]) => Promise<ReadonlySet<string>>;

/** Methods reject with `StoreFailure` if the object store cannot be used. */
export interface ObjectStore {
  openBlobs(target: S3Target, options: { readonly notice: (message: string) => void }): Promise<Blobs>;
  /** The files of a registry that no daemon serves. */
  openKept(target: S3Target): Promise<KeptObjects>;
}

/** Files of an object store, as programs for a stopped registry handle them: compared, kept and brought back. */
export interface KeptObjects {
  /** SHA-256 in lower-case hex of a file, or of its copy that a restore has kept; null if there is neither. */
  digest(name: string): Promise<string | null>;
  bringBack(known: KnownNames): Promise<void>;
  /** Copies files that are not `known` to names below `label`, `.before-restore-…`. Returns the function that removes the originals. */
  keepUnknown(known: KnownNames, label: string): Promise<() => Promise<void>>;
  close(): void;
}
