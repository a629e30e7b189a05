import { createHash } from 'node:crypto';
import { type Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { detach } from '../base/streamed-memory.ts';
import { BlobError } from '../requests/blob-error.ts';
import type { Follower, StagedBlob } from '../requests/blobs.ts';

/**
 * Stores a stream, and counts and hashes its bytes. Fails with a `BlobError` beyond `maxBytes`. Detaches the memory of the buffers it
 * receives.
 */
export abstract class HashedWriter extends Writable {
  readonly #maxBytes: number;
  readonly #hash = createHash('sha256');
  #size = 0;

  /** `waiting`: bytes that may wait to be stored. */
  constructor(maxBytes: number, waiting: number) {
    super({ highWaterMark: waiting, decodeStrings: true });
    this.#maxBytes = maxBytes;
  }

  /** Bytes received. */
  get size(): number {
    return this.#size;
  }

  /** Digest in lower-case hex. Call it once, after the end. */
  sha256(): string {
    return this.#hash.digest('hex');
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#take([chunk]).then(() => done(), done);
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#take(chunks.map(({ chunk }) => chunk)).then(() => done(), done);
  }

  /** Takes all of the content, as `Blobs.receive` does. `discard` removes what was written, also after a failure. */
  async receive(
    content: Readable,
    follower: Follower | undefined,
    { persist, discard }: Pick<StagedBlob, 'persist' | 'discard'>,
  ): Promise<StagedBlob> {
    follower?.follow(() => this.size);
    try {
      await pipeline(content, this);
    } catch (error) {
      await discard();
      throw error;
    }
    const end = async () => {
      await discard();
      follower?.end();
    };
    return { size: this.size, sha256: this.sha256(), persist, discard: end };
  }

  /** Stores the next bytes. They are not used after it resolves. */
  protected abstract put(buffers: readonly Buffer[]): Promise<void>;

  async #take(buffers: readonly Buffer[]): Promise<void> {
    for (const buffer of buffers) this.#size += buffer.length;
    if (this.#size > this.#maxBytes) throw new BlobError('too-large', `more than ${this.#maxBytes} bytes`);
    const stored = this.put(buffers);
    // Another thread writes to the disk at the same time.
    for (const buffer of buffers) this.#hash.update(buffer);
    await stored;
    for (const buffer of buffers) detach(buffer);
  }
}
