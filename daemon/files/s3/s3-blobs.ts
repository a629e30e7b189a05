/** The stored files in an object store with an S3 interface, which any number of daemons share. */
import { createHash } from 'node:crypto';
import { PassThrough, type Readable, type TransformCallback, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { detach } from '../../base/streamed-memory.ts';
import type { S3Target } from '../../home/object-store-target.ts';
import { BlobError } from '../../requests/blob-error.ts';
import {
  type BlobStream,
  type Blobs,
  checkBlobName,
  type Follower,
  isBlobName,
  newBlobName,
  type StagedBlob,
  type StoredBlob,
} from '../../requests/blobs.ts';
import { KnownDigests } from '../known-digests.ts';
import { Bucket, type ObjectState } from './bucket.ts';
import { PartBuffers } from './buffers.ts';
import { PartWriter } from './part-writer.ts';

/** How the files of an object store are kept. */
interface Options {
  /** Takes a line for the log. */
  readonly notice?: (message: string) => void;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** A file without a record is removed this long after it came: its record may still be on its way. */
const ORPHAN_MS = 24 * 60 * 60 * 1000;
/** Orphans that are remembered between two sweeps. */
const MOST_SUSPECTS = 100_000;

/** Rejects with `StoreFailure` if the bucket cannot be used. */
export async function openBucket(target: S3Target): Promise<Bucket> {
  const bucket = new Bucket(target);
  try {
    await bucket.check();
  } catch (error) {
    bucket.close();
    throw error;
  }
  return bucket;
}

/** Opens the place. Rejects with `StoreFailure` if the bucket cannot be used. */
export async function openS3Blobs(target: S3Target, options: Options = {}): Promise<S3Blobs> {
  return new S3Blobs(await openBucket(target), options);
}

/** The files of one registry, below the prefix of a bucket. */
export class S3Blobs implements Blobs {
  readonly shared = true;
  readonly #bucket: Bucket;
  readonly #notice: (message: string) => void;
  readonly #now: () => number;
  readonly #buffers = new PartBuffers();
  readonly #staged = new Set<PartWriter>();
  readonly #digests = new KnownDigests();
  /** Files without a record that the last sweep saw. */
  #suspects = new Set<string>();

  constructor(bucket: Bucket, { notice = () => {}, now = Date.now }: Options) {
    this.#bucket = bucket;
    this.#notice = notice;
    this.#now = now;
  }

  async receive(
    content: Readable,
    maxBytes: number,
    follower?: Follower,
    name: string = newBlobName(),
  ): Promise<StagedBlob> {
    checkBlobName(name);
    const writer = new PartWriter({ bucket: this.#bucket, buffers: this.#buffers, name, maxBytes });
    this.#staged.add(writer);
    return writer.receive(content, follower, {
      persist: async () => {
        await writer.store();
        return name;
      },
      discard: () => this.#discard(writer),
    });
  }

  /** The whole file is read unless this process has read it before and it was not replaced since. */
  async read(name: string, size: number, sha256: string): Promise<StoredBlob> {
    checkBlobName(name);
    const state = await this.#bucket.state(name);
    if (state.size !== size) throw new BlobError('damaged', `file ${name} has ${state.size} bytes instead of ${size}`);
    const known = [state.etag, state.size, state.modifiedAt].join(' ');
    if ((await this.#digests.of(name, known, () => this.#digest(name, state))) !== sha256)
      throw new BlobError('damaged', `file ${name} has another SHA-256`);
    return {
      size,
      stream: (start, end) => this.#stream(name, state, start, end),
      close: async () => {},
    };
  }

  /** SHA-256 in lower-case hex; null if the object does not exist. */
  async digest(name: string): Promise<string | null> {
    try {
      return await this.#digest(name, await this.#bucket.state(name));
    } catch (error) {
      if (error instanceof BlobError && error.problem === 'missing') return null;
      throw error;
    }
  }

  remove(name: string): Promise<void> {
    checkBlobName(name);
    return this.#bucket.remove(name).then(
      () => {},
      error => this.#notice(`could not remove ${name}: ${error.message}; a later sweep tries again`),
    );
  }

  async space() {
    return { free: Number.POSITIVE_INFINITY, size: Number.POSITIVE_INFINITY };
  }

  async stored(): Promise<number> {
    let sum = 0;
    for await (const objects of this.#bucket.list())
      for (const { name, size } of objects) if (isBlobName(name)) sum += size;
    return sum;
  }

  /**
   * Other daemons store files at the same time: only a file that is older than a day, and that two sweeps have found without a
   * record, is removed. The same goes for uploads that were begun more than a day ago.
   */
  async sweep(known: (names: readonly string[]) => Promise<ReadonlySet<string>>): Promise<void> {
    const before = this.#now() - ORPHAN_MS;
    const suspects = new Set<string>();
    let removed = 0;
    for await (const objects of this.#bucket.list()) {
      const old = objects.filter(({ name, modifiedAt }) => isBlobName(name) && modifiedAt < before);
      const recorded = await known(old.map(({ name }) => name));
      for (const { name } of old.filter(({ name }) => !recorded.has(name))) {
        if (this.#suspects.has(name)) {
          await this.remove(name);
          removed++;
        } else if (suspects.size < MOST_SUSPECTS) suspects.add(name);
      }
    }
    this.#suspects = suspects;
    for (const { name, uploadId, startedAt } of await this.#bucket.unfinished()) {
      if (!isBlobName(name) || startedAt >= before) continue;
      await this.#bucket.abort(name, uploadId);
      removed++;
    }
    if (removed > 0)
      this.#notice(`removed ${removed} file${removed === 1 ? '' : 's'} without a record, a day old or more`);
  }

  /** Removes what this process has staged. */
  async discardAll(): Promise<number> {
    const staged = [...this.#staged];
    for (const writer of staged) await this.#discard(writer);
    return staged.length;
  }

  async #discard(writer: PartWriter): Promise<void> {
    if (!this.#staged.delete(writer)) return;
    await writer.discard();
  }

  async #digest(name: string, state: ObjectState): Promise<string> {
    const hash = createHash('sha256');
    if (state.size === 0) return hash.digest('hex');
    // An iterator would join the waiting chunks, and only the garbage collection would free their memory.
    const take = new Writable({
      write(chunk: Buffer, _encoding, done) {
        hash.update(chunk);
        detach(chunk);
        done();
      },
    });
    await pipeline(this.#stream(name, state, 0, state.size - 1), take);
    return hash.digest('hex');
  }

  #stream(name: string, { etag }: ObjectState, start: number, end: number): BlobStream {
    const stream = new CountedStream();
    const gone = new AbortController();
    stream.once('close', () => gone.abort(new Error('the reader has gone')));
    this.#bucket.read(name, { etag, start, end }, gone.signal).then(
      body => pipeline(body, stream).catch(() => {}),
      error => stream.destroy(error),
    );
    return stream;
  }
}

class CountedStream extends PassThrough {
  bytesRead = 0;

  // Readers free the memory of a piece, with which the parser of the response is not done while it passes the piece on.
  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    queueMicrotask(() => done(null, chunk));
  }

  override push(chunk: Buffer | null): boolean {
    this.bytesRead += chunk?.length ?? 0;
    return super.push(chunk);
  }
}
