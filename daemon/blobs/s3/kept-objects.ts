/** What programs for a stopped registry do with the files of an object store: compare, keep and bring back. */
import { BlobError } from '../blob-error.ts';
import { isBlobName } from '../blobs.ts';
import type { Bucket } from './bucket.ts';
import { openBucket, S3Blobs } from './s3-blobs.ts';
import type { S3Target } from './target.ts';

/** Before the names of files that a restore has kept with the registry it replaced: no sweep takes them for files. */
const KEPT = 'before-restore-';
const BATCH = 500;

type KnownNames = (names: readonly string[]) => Promise<ReadonlySet<string>>;

/** The files of a registry that no daemon serves. Rejects with `StoreFailure` if the object store cannot be used. */
export class KeptObjects {
  readonly #bucket: Bucket;
  readonly #blobs: S3Blobs;
  #copies: Promise<string[]> | undefined;

  private constructor(bucket: Bucket) {
    this.#bucket = bucket;
    this.#blobs = new S3Blobs(bucket, {});
  }

  /** Rejects with `StoreFailure` if the bucket cannot be used. */
  static async open(target: S3Target): Promise<KeptObjects> {
    return new KeptObjects(await openBucket(target));
  }

  /** SHA-256 in lower-case hex of a file, or of its copy that a restore has kept; null if there is neither. */
  async digest(name: string): Promise<string | null> {
    if (!isBlobName(name)) return '';
    const found = await this.#blobs.digest(name);
    if (found !== null) return found;
    for (const copy of await this.#keptCopies()) if (copy.endsWith(`/${name}`)) return this.#blobs.digest(copy);
    return null;
  }

  async bringBack(known: KnownNames): Promise<void> {
    const copies = await this.#keptCopies();
    const nameOf = (copy: string) => copy.slice(copy.lastIndexOf('/') + 1);
    for (let i = 0; i < copies.length; i += BATCH) {
      const batch = copies.slice(i, i + BATCH);
      const wanted = await known(batch.map(nameOf));
      for (const copy of batch.filter(copy => wanted.has(nameOf(copy)))) {
        const name = nameOf(copy);
        if ((await this.#stateOf(name)) === null) await this.#bucket.copy(copy, name);
      }
    }
  }

  /** Copies the files that are not `known` to names below `label`, which is `.before-restore-…`. Returns the function that removes the originals. */
  async keepUnknown(known: KnownNames, label: string): Promise<() => Promise<void>> {
    const unknown: string[] = [];
    for await (const objects of this.#bucket.list()) {
      const names = objects.map(({ name }) => name).filter(isBlobName);
      const found = await known(names);
      unknown.push(...names.filter(name => !found.has(name)));
    }
    for (const name of unknown) await this.#bucket.copy(name, `${label.slice(1)}/${name}`);
    return async () => {
      for (const name of unknown) await this.#bucket.remove(name);
    };
  }

  close(): void {
    this.#bucket.close();
  }

  #stateOf(name: string) {
    return this.#bucket.state(name).catch(error => {
      if (error instanceof BlobError && error.problem === 'missing') return null;
      throw error;
    });
  }

  /** Listed once: a program runs for one restore or check. */
  #keptCopies(): Promise<string[]> {
    this.#copies ??= (async () => {
      const copies: string[] = [];
      for await (const objects of this.#bucket.list(KEPT)) copies.push(...objects.map(({ name }) => name));
      return copies;
    })();
    return this.#copies;
  }
}
