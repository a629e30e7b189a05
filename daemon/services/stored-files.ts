/** What all uploads have in common: a file is staged, then stored and recorded, or removed without a trace. */
import type { Readable } from 'node:stream';
import { ApiError } from '../../src/contract/codes.ts';
import { BlobError } from '../blobs/blob-error.ts';
import type { Blobs, StagedBlob } from '../blobs/blobs.ts';
import type { StoredBlob } from '../blobs/stored-blob.ts';
import { StoreFailure } from '../store/store.ts';

/** A stored file, open, and what its record says about it. */
export interface Download {
  readonly blob: StoredBlob;
  readonly sha256: string;
  readonly fileName: string;
}

/** The staged file of a form. `fileName` is as the client sent it. */
export interface Uploaded {
  readonly fileName: string;
  readonly blob: StagedBlob;
}

const diskFull = () => new ApiError(4002, 'the disk of the service is full; nothing was stored');

/** Stages an arriving file. Refuses with 4002 if it is too large or the disk is full. `expected`: its size in bytes if known, else 0. */
export async function stage(blobs: Blobs, content: Readable, maxBytes: number, expected: number): Promise<StagedBlob> {
  // A size known in advance is refused before the file fills the disk that the registry is on.
  if (expected > (await blobs.free())) throw diskFull();
  try {
    return await blobs.receive(content, maxBytes);
  } catch (error) {
    if (!(error instanceof BlobError)) throw error;
    throw error.problem === 'too-large' ? new ApiError(4002, `the file is larger than ${maxBytes} bytes`) : diskFull();
  }
}

/** More than the store needs for a commit. */
const COMMIT_BYTES = 1024 * 1024;

/** Stores the file, then records its name with `commit`. If that fails, the file is removed. */
export async function keep<T>(blobs: Blobs, staged: StagedBlob, commit: (name: string) => Promise<T>): Promise<T> {
  const name = await staged.persist().catch(error => {
    throw error instanceof BlobError ? diskFull() : error;
  });
  try {
    return await commit(name);
  } catch (error) {
    const full = error instanceof StoreFailure && (await blobs.free()) < COMMIT_BYTES;
    await blobs.remove(name);
    throw full ? diskFull() : error;
  }
}
