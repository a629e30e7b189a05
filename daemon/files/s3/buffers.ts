/** Bytes of a part: the least that S3 accepts. With the 10,000 parts that it allows, a file can have 48 GiB. */
export const PART_BYTES = 5 * 1024 * 1024;
/** Parts that all uploads together hold in memory: 160 MiB. One upload alone holds at most two. */
const MOST_BUFFERS = 32;
/** Buffers that are kept for the next part. */
const MOST_IDLE = 2;

/**
 * The memory of all uploads. A buffer is used again as soon as its part is stored: with a new one for each part, an upload of
 * 2 GiB held 228 to 249 MiB. If all are in use, further uploads wait in the order of arrival, and their senders with them.
 * Memory that is not needed is returned at once, without a garbage collection: a buffer can shrink. If a connection still
 * writes from it, the address stays reserved, so that it cannot send the memory of something else.
 */
export class PartBuffers {
  readonly #most: number;
  readonly #idle: Buffer<ArrayBuffer>[] = [];
  readonly #waiting: ((buffer: Buffer) => void)[] = [];
  #made = 0;

  constructor(most = MOST_BUFFERS) {
    this.#most = most;
  }

  /** A buffer of `PART_BYTES`. Rejects with the reason of `signal` if that comes first. */
  take(signal: AbortSignal): Promise<Buffer> {
    const idle = this.#idle.pop();
    if (idle) return Promise.resolve(resize(idle, PART_BYTES));
    if (this.#made < this.#most) {
      this.#made++;
      return Promise.resolve(Buffer.from(new ArrayBuffer(PART_BYTES, { maxByteLength: PART_BYTES })));
    }
    return new Promise((resolve, reject) => {
      const give = (buffer: Buffer) => {
        signal.removeEventListener('abort', leave);
        resolve(buffer);
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(give), 1);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(give);
    });
  }

  giveBack(buffer: Buffer): void {
    const next = this.#waiting.shift();
    if (next) next(buffer);
    else this.#rest(buffer as Buffer<ArrayBuffer>);
  }

  #rest(buffer: Buffer<ArrayBuffer>): void {
    if (this.#idle.length < MOST_IDLE) this.#idle.push(buffer);
    else {
      this.#made--;
      resize(buffer, 0);
    }
    const areAllIdle = this.#idle.length === this.#made;
    if (areAllIdle) for (const idle of this.#idle) resize(idle, 0);
  }
}

/** The buffer has the length of its memory. */
function resize(buffer: Buffer<ArrayBuffer>, bytes: number): Buffer {
  buffer.buffer.resize(bytes);
  return buffer;
}
