/** Bytes of a part: the least that S3 accepts. With the 10,000 parts that it allows, a file can have 48 GiB. */
export const PART_BYTES = 5 * 1024 * 1024;
/** Parts that all uploads together hold in memory: 160 MiB. One upload alone holds at most two. */
const MOST_BUFFERS = 32;
/** Buffers that are kept for the next part. */
const MOST_IDLE = 2;

/**
 * The memory of all uploads. A buffer is used again as soon as its part is stored: with a new one for each part, an upload of
 * 2 GiB held 228 to 249 MiB. If all are in use, further uploads wait in the order of arrival, and their senders with them.
 */
export class PartBuffers {
  readonly #most: number;
  readonly #idle: Buffer[] = [];
  readonly #waiting: ((buffer: Buffer) => void)[] = [];
  #made = 0;

  constructor(most = MOST_BUFFERS) {
    this.#most = most;
  }

  /** A buffer of `PART_BYTES`. Rejects with the reason of `signal` if that comes first. */
  take(signal: AbortSignal): Promise<Buffer> {
    const idle = this.#idle.pop();
    if (idle) return Promise.resolve(idle);
    if (this.#made < this.#most) {
      this.#made++;
      return Promise.resolve(Buffer.allocUnsafeSlow(PART_BYTES));
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
    else if (this.#idle.length < MOST_IDLE) this.#idle.push(buffer);
    else this.#made--;
  }
}
