/** What uploads of every kind have in common: put aside, keep, record, or leave nothing. */
import type { Readable } from 'node:stream';
import { ApiError } from '../../src/contract/codes.ts';
import { BlobError } from '../blobs/blob-error.ts';
import type { Blobs, StagedBlob } from '../blobs/blobs.ts';
import type { KeptBlob } from '../blobs/stored-blob.ts';
import { StoreFailure } from '../store/store.ts';

/** A kept file, open, with what its record says of it. */
export interface Download {
  readonly blob: KeptBlob;
  readonly sha256: string;
  readonly fileName: string;
}

/** The file of a form that has arrived. `fileName` is as the client gave it. */
export interface Uploaded {
  readonly fileName: string;
  readonly blob: StagedBlob;
}

const diskFull = () => new ApiError(4002, 'the disk of the service is full; nothing was kept');

/** Takes a file that is arriving. Refuses with 4002 one that is too large or has no room; `expected` bytes or 0. */
export async function stage(blobs: Blobs, content: Readable, maxBytes: number, expected: number): Promise<StagedBlob> {
  // Known beforehand, it need not fill the disk under the registry first.
  if (expected > (await blobs.free())) throw diskFull();
  try {
    return await blobs.receive(content, maxBytes);
  } catch (error) {
    if (!(error instanceof BlobError)) throw error;
    throw error.problem === 'too-large' ? new ApiError(4002, `the file is larger than ${maxBytes} bytes`) : diskFull();
  }
}

/** Room a store needs for a commit, amply. */
const COMMIT_BYTES = 1024 * 1024;

/** Keeps the file on disk, then has it recorded under its name. Where that fails the file is gone again. */
export async function keep<T>(blobs: Blobs, staged: StagedBlob, commit: (name: string) => Promise<T>): Promise<T> {
  const name = await staged.keep().catch(error => {
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
