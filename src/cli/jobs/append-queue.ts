interface AppendQueueWaiting {
  readonly text: string;
  readonly resolve: (offset: number) => void;
  readonly reject: (error: unknown) => void;
}

/** Appends texts to a file in their order, beside the main thread: an operator types while the disk works. What waits is written and synced at once. */
export class AppendQueue {
  readonly #write: (text: string) => Promise<number>;
  #waiting: AppendQueueWaiting[] = [];
  #work: Promise<void> | null = null;

  /** `write` resolves to the byte at which the text begins, when the disk has it. If it fails, the file has to be as before. */
  constructor(write: (text: string) => Promise<number>) {
    this.#write = write;
  }

  /** Resolves to the byte at which the text begins, when the disk has it. */
  append(text: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ text, resolve, reject });
      this.#work ??= this.#writeAll();
    });
  }

  /** Resolves when nothing waits. */
  async settled(): Promise<void> {
    await this.#work;
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        let offset = await this.#write(group.map(({ text }) => text).join(''));
        for (const { text, resolve } of group) {
          resolve(offset);
          offset += Buffer.byteLength(text);
        }
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.#work = null;
  }
}
