import { createHash } from 'node:crypto';
import type { ReadStream } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { StoredBlob } from '../requests/blobs.ts';

const CHUNK = 256 * 1024;

/** A file of the folder. */
export class FileBlob implements StoredBlob {
  readonly size: number;
  readonly #file: FileHandle;

  constructor(file: FileHandle, size: number) {
    this.#file = file;
    this.size = size;
  }

  /** Reads the whole file. Returns its SHA-256 in lower-case hex. */
  async digest(): Promise<string> {
    const hash = createHash('sha256');
    const chunk = Buffer.allocUnsafe(CHUNK);
    for (let at = 0; at < this.size; ) {
      const { bytesRead } = await this.#file.read(chunk, 0, CHUNK, at);
      if (bytesRead === 0) break;
      hash.update(chunk.subarray(0, bytesRead));
      at += bytesRead;
    }
    return hash.digest('hex');
  }

  stream(start: number, end: number): ReadStream {
    return this.#file.createReadStream({ start, end, highWaterMark: CHUNK });
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}
