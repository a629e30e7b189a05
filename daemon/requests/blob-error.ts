import { StoreUnavailable } from '../store/commit.ts';

/**
 * Why a file was not stored or cannot be read. `too-large`, `disk-full`: it was not taken, and nothing of it remains.
 * `missing`, `damaged`: a stored file is not there, or its content has changed.
 */
type BlobProblem = 'too-large' | 'disk-full' | 'missing' | 'damaged';

/** A problem with one file. The message is for the log, not for clients. */
export class BlobError extends Error {
  override name = 'BlobError';
  readonly problem: BlobProblem;
  constructor(problem: BlobProblem, message: string, options?: ErrorOptions) {
    super(message, options);
    this.problem = problem;
  }
}

/** The object store does not answer, or fails: a later request may succeed. Nothing was changed. The message is for the log. */
export class FilesUnavailable extends StoreUnavailable {
  override name = 'FilesUnavailable';
}

/** The file is in the home of another daemon that uses the same database. The message is for clients. */
export class FileElsewhere extends FilesUnavailable {
  override name = 'FileElsewhere';
  constructor() {
    super(
      'the file is not in the home of this daemon: it is at another daemon of the registry. Send the request to that one, or keep the files in an object store (--files)',
    );
  }
}

const fullCodes = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** Turns the error of a full disk into a `BlobError`; returns any other error of the file system as it is. */
export function fromFileSystem(error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  return code && fullCodes.has(code) ? new BlobError('disk-full', message, { cause: error }) : error;
}
