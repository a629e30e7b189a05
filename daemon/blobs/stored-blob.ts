import { createHash } from 'node:crypto';
import type { ReadStream } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { BlobError } from './blob-error.ts';

const PIECE = 256 * 1024;

/** A kept file, open for reading. */
export class KeptBlob {
  readonly size: number;
  readonly #file: FileHandle;
  readonly #name: string;

  constructor(file: FileHandle, name: string, size: number) {
    this.#file = file;
    this.#name = name;
    this.size = size;
  }

  /** Reads it all. Refuses with `BlobError` `damaged` where the digest is another. */
  async verify(sha256: string): Promise<void> {
    const hash = createHash('sha256');
    const piece = Buffer.allocUnsafe(PIECE);
    for (let at = 0; at < this.size; ) {
      const { bytesRead } = await this.#file.read(piece, 0, PIECE, at);
      if (bytesRead === 0) break;
      hash.update(piece.subarray(0, bytesRead));
      at += bytesRead;
    }
    if (hash.digest('hex') !== sha256) throw new BlobError('damaged', `file ${this.#name} has another SHA-256`);
  }

  /** The bytes from `start` to `end`, both included. Closes the file at its end. */
  stream(start: number, end: number): ReadStream {
    return this.#file.createReadStream({ start, end, highWaterMark: PIECE });
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}
