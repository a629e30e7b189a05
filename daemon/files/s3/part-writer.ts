import { HashedWriter } from '../hashed-writer.ts';
import type { Bucket, StoredPart } from './bucket.ts';
import { PART_BYTES, type PartBuffers } from './buffers.ts';

/** Parts of one upload that are sent at a time, while the next one is filled. Each takes the memory of a part. */
const MOST_SENDING = 1;

/** A file on its way. */
interface Arrival {
  readonly bucket: Bucket;
  readonly buffers: PartBuffers;
  readonly name: string;
  readonly maxBytes: number;
}

/** Sends a stream in parts. A file that fits into one part is sent when it is stored. Nothing of it can be seen before `store`. */
export class PartWriter extends HashedWriter {
  readonly #arrival: Arrival;
  readonly #ended = new AbortController();
  readonly #sending = new Set<Promise<void>>();
  readonly #parts: StoredPart[] = [];
  #buffer: Buffer | null = null;
  #filled = 0;
  #number = 0;
  #uploadId: Promise<string> | null = null;

  constructor(arrival: Arrival) {
    super(arrival.maxBytes, 256 * 1024);
    this.#arrival = arrival;
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!error) done();
    else
      this.discard().then(
        () => done(error),
        () => done(error),
      );
  }

  /** The object is there, whole and durable, when this resolves. Call it once, after the end. */
  async store(): Promise<void> {
    if (this.errored) throw this.errored;
    const { bucket, name } = this.#arrival;
    const last = this.#buffer?.subarray(0, this.#filled) ?? Buffer.alloc(0);
    if (!this.#uploadId) await bucket.put(name, last);
    else {
      if (last.length > 0) await this.#send();
      await Promise.all(this.#sending);
      if (this.#parts.length !== this.#number) throw this.errored ?? new Error('a part was not stored');
      const parts = this.#parts.toSorted((a, b) => a.PartNumber - b.PartNumber);
      await bucket.complete(name, await this.#uploadId, parts, this.size);
      this.#uploadId = null;
    }
    this.#release();
  }

  /** Ends what is being sent and removes what was. Idempotent; an upload that cannot be aborted is left to the next sweep. */
  async discard(): Promise<void> {
    this.#ended.abort(new Error('the upload has ended'));
    await Promise.allSettled(this.#sending);
    this.#release();
    const uploadId = await this.#uploadId?.catch(() => null);
    this.#uploadId = null;
    if (uploadId) await this.#arrival.bucket.abort(this.#arrival.name, uploadId).catch(() => {});
  }

  protected async put(buffers: readonly Buffer[]): Promise<void> {
    for (const chunk of buffers)
      for (let at = 0; at < chunk.length; ) {
        if (this.#filled === PART_BYTES) await this.#send();
        this.#buffer ??= await this.#arrival.buffers.take(this.#ended.signal);
        const taken = chunk.copy(this.#buffer, this.#filled, at);
        this.#filled += taken;
        at += taken;
      }
  }

  /** Starts to send the filled part, as soon as an earlier one is stored. */
  async #send(): Promise<void> {
    while (this.#sending.size >= MOST_SENDING) await Promise.race(this.#sending);
    const { bucket, name } = this.#arrival;
    const { signal } = this.#ended;
    const buffer = this.#buffer!;
    const content = buffer.subarray(0, this.#filled);
    const number = ++this.#number;
    this.#buffer = null;
    this.#filled = 0;
    this.#uploadId ??= bucket.begin(name);
    const sending = this.#uploadId
      .then(uploadId => bucket.putPart(name, uploadId, number, content, signal))
      .then(part => void this.#parts.push(part))
      .finally(() => {
        this.#sending.delete(sending);
        this.#arrival.buffers.giveBack(buffer);
      });
    this.#sending.add(sending);
    // The next part decides which code awaits it.
    sending.catch(error => this.destroy(error));
  }

  #release(): void {
    if (this.#buffer) this.#arrival.buffers.giveBack(this.#buffer);
    this.#buffer = null;
  }
}
