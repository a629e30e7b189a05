import type { ObjectStore } from '../object-store.ts';
import { openKeptObjects } from './kept-objects.ts';
import { openS3Blobs } from './s3-blobs.ts';

/** Files in an object store with an S3 interface. */
export const s3: ObjectStore = { openBlobs: openS3Blobs, openKept: openKeptObjects };
