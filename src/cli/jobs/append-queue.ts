interface Entry {
  readonly text: string;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Appends texts to a file in order, beside the main thread: an operator types while the disk works. Syncs what waits at once. */
export class AppendQueue {
  readonly #write: (text: string) => Promise<void>;
  #waiting: Entry[] = [];
  #work: Promise<void> | null = null;

  /** `write` resolves when the disk has the text. If it fails, the file has to be as before. */
  constructor(write: (text: string) => Promise<void>) {
    this.#write = write;
  }

  /** Resolves when the disk has the text. */
  append(text: string): Promise<void> {
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
        await this.#write(group.map(({ text }) => text).join(''));
        for (const { resolve } of group) resolve();
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.#work = null;
  }
}
