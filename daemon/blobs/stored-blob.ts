import { createHash } from 'node:crypto';
import type { ReadStream } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { BlobError } from './blob-error.ts';

const CHUNK = 256 * 1024;

/** A stored file, open for reading. Its owner closes it. */
export class StoredBlob {
  /** Bytes. */
  readonly size: number;
  readonly #file: FileHandle;
  readonly #name: string;

  constructor(file: FileHandle, name: string, size: number) {
    this.#file = file;
    this.#name = name;
    this.size = size;
  }

  /** Reads the whole file. Rejects with a `BlobError` `damaged` if its digest (lower-case hex) differs. */
  async verify(sha256: string): Promise<void> {
    const hash = createHash('sha256');
    const chunk = Buffer.allocUnsafe(CHUNK);
    for (let at = 0; at < this.size; ) {
      const { bytesRead } = await this.#file.read(chunk, 0, CHUNK, at);
      if (bytesRead === 0) break;
      hash.update(chunk.subarray(0, bytesRead));
      at += bytesRead;
    }
    if (hash.digest('hex') !== sha256) throw new BlobError('damaged', `file ${this.#name} has another SHA-256`);
  }

  /** The bytes from `start` to `end`, both included. Closes the file at its end. */
  stream(start: number, end: number): ReadStream {
    return this.#file.createReadStream({ start, end, highWaterMark: CHUNK });
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}
