import { createHash } from 'node:crypto';
import type { ReadStream } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { KeyedMutex } from '../concurrency.ts';
import type { StoredBlob } from './blobs.ts';

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

/** Files whose digest is remembered: about 3 MB. */
const MOST_KNOWN = 10_000;

/** Digests of files that were read, each as long as the state of the file (inode, size, times) is the same. */
export class KnownDigests {
  readonly #known = new Map<string, { readonly state: string; readonly sha256: string }>();
  readonly #reading = new KeyedMutex<string>();

  /** The digest of a file in this state. Several requests for one file read it once. */
  of(name: string, state: string, read: () => Promise<string>): Promise<string> {
    return this.#reading.run(name, async () => {
      const known = this.#known.get(name);
      if (known?.state === state) return known.sha256;
      const sha256 = await read();
      this.#known.delete(name);
      this.#known.set(name, { state, sha256 });
      if (this.#known.size > MOST_KNOWN) this.#known.delete(this.#known.keys().next().value!);
      return sha256;
    });
  }
}
