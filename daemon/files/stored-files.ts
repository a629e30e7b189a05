/** Common path of all uploads: a file is staged, then stored and recorded, or removed without a trace. */
import type { Readable } from 'node:stream';
import { BlobError } from '../requests/blob-error.ts';
import type { Blobs, StagedBlob } from '../requests/blobs.ts';
import { actorOf, type Context } from '../requests/context.ts';
import { OutcomeUnknown, StoreFailure } from '../store/commit.ts';
import { type Admission, diskFull, type FileBudget } from './file-budget.ts';

/** The staged file of a form. `fileName` is as the client sent it. */
export interface UploadedFile {
  readonly fileName: string;
  readonly blob: StagedBlob;
}

/** Where files go: their folder, and how much may be stored. */
export interface FileStore {
  readonly blobs: Blobs;
  readonly budget: FileBudget;
}

/** Staged body of a request. */
export interface ArrivingBody {
  readonly context: Context;
  readonly content: Readable;
  readonly maxBytes: number;
  /** Bytes of the whole body if known, else 0. */
  readonly expected: number;
}

/** Uploads that were admitted, by their staged file. */
const admissions = new WeakMap<StagedBlob, Admission>();

/** Stages an arriving file. Refuses with 4002 if it is too large or the store has no room, with 429 if the user's day is used up. */
export async function stage({ blobs, budget }: FileStore, arriving: ArrivingBody): Promise<StagedBlob> {
  const { context, content, maxBytes, expected } = arriving;
  // Refused before the file fills the disk that the registry is on.
  const admission = await budget.admit(actorOf(context) ?? '', maxBytes, expected);
  try {
    const staged = await blobs.receive(content, admission.maxBytes, admission);
    admissions.set(staged, admission);
    return staged;
  } catch (error) {
    admission.end();
    if (!(error instanceof BlobError)) throw error;
    throw error.problem === 'too-large' ? admission.tooLarge() : diskFull();
  }
}

/** More than the store needs for a commit. */
const COMMIT_BYTES = 1024 * 1024;

/**
 * Stores the file, then records its name with `commit`. If that fails, the file is removed; not if the record may have been
 * written all the same: a file without a record is found by a sweep, a record without its file is a loss.
 */
export async function keep<T>(
  { blobs }: FileStore,
  staged: StagedBlob,
  commit: (name: string) => Promise<T>,
): Promise<T> {
  const name = await staged.persist().catch(error => {
    throw error instanceof BlobError ? diskFull() : error;
  });
  try {
    const result = await commit(name);
    admissions.get(staged)?.keep(staged.size);
    return result;
  } catch (error) {
    if (error instanceof OutcomeUnknown) throw error;
    const full = error instanceof StoreFailure && (await blobs.space()).free < COMMIT_BYTES;
    await blobs.remove(name);
    throw full ? diskFull() : error;
  }
}
