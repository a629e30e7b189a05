import type { FileHandle } from 'node:fs/promises';
import { fromFileSystem } from '../requests/blob-error.ts';
import { HashedWriter } from './hashed-writer.ts';

/**
 * Bytes that may wait for the disk: few enough to be still in the processor's cache when the system copies them. Measured for
 * 1 GiB: 2.4 s, with 1 MiB 3.1 s.
 */
const MAX_WAITING = 128 * 1024;

/** Writes a stream to an open file, which it does not close. */
export class HashingWriter extends HashedWriter {
  readonly #file: FileHandle;

  constructor(file: FileHandle, maxBytes: number) {
    super(maxBytes, MAX_WAITING);
    this.#file = file;
  }

  /** A nearly full disk may take only a part of the buffers. */
  protected async put(buffers: readonly Buffer[]): Promise<void> {
    let rest = buffers;
    try {
      while (rest.length > 0) {
        const { bytesWritten } = await this.#file.writev(rest);
        rest = after(rest, bytesWritten);
      }
    } catch (error) {
      throw fromFileSystem(error);
    }
  }
}

/** The buffers without their first `count` bytes. */
function after(buffers: readonly Buffer[], count: number): Buffer[] {
  let skip = count;
  const first = buffers.findIndex(buffer => {
    if (skip < buffer.length) return true;
    skip -= buffer.length;
    return false;
  });
  return first < 0 ? [] : [buffers[first]!.subarray(skip), ...buffers.slice(first + 1)];
}
