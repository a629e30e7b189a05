/** The content of responses that are not JSON. */
import type { StoredBlob } from './blobs.ts';

/** A stored file, open, and what its record reports about it. */
export interface Download {
  readonly blob: StoredBlob;
  readonly sha256: string;
  readonly fileName: string;
}

/** An export that has started. */
export interface StartedExport {
  /** Its text. It ends with an error if the store cannot be read; it then lacks its end. Read it or end it. */
  readonly pieces: AsyncGenerator<string, void>;
  /** Call it when `pieces` has ended and the client has all of it or has gone: another export may then start. Idempotent. */
  readonly end: () => void;
}
