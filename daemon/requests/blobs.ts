/** Files of any size that records of the store refer to. A file is complete or absent; clients never choose its name. */
import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';

/** Whether a name is one that `receive` gives to a file: never a path to another folder. */
export const isBlobName = (name: string): boolean => /^[0-9a-f]{32}$/.test(name);

/** Throws unless the name is one that `receive` gives: a record may come from a registry that was tampered with. */
export function checkBlobName(name: string): void {
  if (!isBlobName(name)) throw new Error('not the name of a blob');
}

/** A name that no file has. */
export const newBlobName = (): string => randomBytes(16).toString('hex');

/** A watcher of the arrival of a file. */
export interface Follower {
  /** Takes the function that returns how many bytes have arrived. */
  follow(arrived: () => number): void;
  /** The file is stored or removed. */
  end(): void;
}

/** The files of one registry. Methods reject with a `BlobError` as stated, and with other errors if the place of the files fails. */
export interface Blobs {
  /** Whether other daemons store files in the same place. */
  readonly shared: boolean;
  /**
   * Stages a stream in constant memory and detaches the buffers it yields. If that fails, nothing of it remains and `content`
   * is destroyed. `name`: that of a copied file, which records have already; a new one if absent. Rejects with `too-large` or `disk-full`.
   */
  receive(content: Readable, maxBytes: number, follower?: Follower, name?: string): Promise<StagedBlob>;
  /**
   * Opens a stored file whose size in bytes and digest (lower-case hex) are recorded, after its digest was compared. Rejects
   * with `missing` or `damaged`. The caller closes it.
   */
  read(name: string, size: number, sha256: string): Promise<StoredBlob>;
  /** Removes a stored file. Idempotent, rejects with nothing. */
  remove(name: string): Promise<void>;
  /** Bytes that can still be written, and the size of the disk; infinite if the place of the files has no such bound. */
  space(): Promise<{ readonly free: number; readonly size: number }>;
  /** Bytes of all stored files. Looks at each of them. */
  stored(): Promise<number>;
  /** Removes what earlier runs have left: files that no record names. `known` returns the ones among names that records do name. */
  sweep(known: (names: readonly string[]) => Promise<ReadonlySet<string>>): Promise<void>;
  /** Removes all staged files of this process and returns their number. Call it only while none is to be stored. */
  discardAll(): Promise<number>;
}

/** A file that has arrived but is not stored yet. */
export interface StagedBlob {
  /** Bytes. */
  readonly size: number;
  /** Digest in lower-case hex. */
  readonly sha256: string;
  /** Stores the file durably and returns its name. Call it once. Rejects with `disk-full`. */
  persist(): Promise<string>;
  /** Removes the file unless it was stored. Idempotent, does not fail. */
  discard(): Promise<void>;
}

/** The content of a file. `bytesRead`: how much was read; fewer bytes at the end than asked for mean that the file was cut short. */
export type BlobStream = Readable & { readonly bytesRead: number };

/** A stored file, open for reading. Its owner closes it. */
export interface StoredBlob {
  /** Bytes. */
  readonly size: number;
  /** The bytes from `start` to `end`, both included. Closes the file at its end. */
  stream(start: number, end: number): BlobStream;
  close(): Promise<void>;
}
