import type { S3Target } from '../../home/object-store-target.ts';
import { BlobError } from '../../requests/blob-error.ts';
import { isBlobName } from '../../requests/blobs.ts';
import type { KeptObjects } from '../object-store.ts';
import type { Bucket } from './bucket.ts';
import { openBucket, S3Blobs } from './s3-blobs.ts';

/** Before the names of files that a restore has kept with the registry it replaced: no sweep takes them for files. */
const KEPT = 'before-restore-';
const BATCH = 500;

export async function openKeptObjects(target: S3Target): Promise<KeptObjects> {
  const bucket = await openBucket(target);
  const blobs = new S3Blobs(bucket, {});
  let copies: Promise<string[]> | undefined;
  /** Listed once: a program runs for one restore or check. */
  const keptCopies = () => {
    copies ??= (async () => {
      const names: string[] = [];
      for await (const objects of bucket.list(KEPT)) names.push(...objects.map(({ name }) => name));
      return names;
    })();
    return copies;
  };
  return {
    async digest(name) {
      if (!isBlobName(name)) return '';
      const found = await blobs.digest(name);
      if (found !== null) return found;
      const copy = (await keptCopies()).find(one => one.endsWith(`/${name}`));
      return copy === undefined ? null : blobs.digest(copy);
    },
    async bringBack(known) {
      const all = await keptCopies();
      for (let i = 0; i < all.length; i += BATCH) {
        const batch = all.slice(i, i + BATCH);
        const wanted = await known(batch.map(nameOf));
        for (const copy of batch.filter(copy => wanted.has(nameOf(copy))))
          if (await isMissing(bucket, nameOf(copy))) await bucket.copy(copy, nameOf(copy));
      }
    },
    async keepUnknown(known, label) {
      const unknown: string[] = [];
      for await (const objects of bucket.list()) {
        const names = objects.map(({ name }) => name).filter(isBlobName);
        const found = await known(names);
        unknown.push(...names.filter(name => !found.has(name)));
      }
      for (const name of unknown) await bucket.copy(name, `${label.slice(1)}/${name}`);
      return async () => {
        for (const name of unknown) await bucket.remove(name);
      };
    },
    close: () => bucket.close(),
  };
}

const nameOf = (copy: string) => copy.slice(copy.lastIndexOf('/') + 1);

const isMissing = (bucket: Bucket, name: string): Promise<boolean> =>
  bucket.state(name).then(
    () => false,
    error => {
      if (error instanceof BlobError && error.problem === 'missing') return true;
      throw error;
    },
  );
