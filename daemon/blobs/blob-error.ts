/**
 * `too-large`, `disk-full`: a file was not taken, and nothing of it stays. `missing`, `damaged`: a kept file is not there, or
 * is not what was kept. `message` is for the log.
 */
export type BlobProblem = 'too-large' | 'disk-full' | 'missing' | 'damaged';

export class BlobError extends Error {
  readonly problem: BlobProblem;
  constructor(problem: BlobProblem, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BlobError';
    this.problem = problem;
  }
}

const fullCodes = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** An error of the file system; a disk that is full becomes a `BlobError`. */
export function fromFileSystem(error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  return code && fullCodes.has(code) ? new BlobError('disk-full', message, { cause: error }) : error;
}
