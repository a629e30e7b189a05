import type { ListedReader } from '../protocols/pcscd.ts';
import type { PcscReader, ReaderHandlers } from './transport.ts';

/** Reports what has changed between one list of readers and the next. */
export class ReaderList {
  readonly #handlers: ReaderHandlers;
  readonly #readerOf: (name: string) => PcscReader;
  #states: ReadonlyMap<string, number> = new Map();

  constructor(handlers: ReaderHandlers, readerOf: (name: string) => PcscReader) {
    this.#handlers = handlers;
    this.#readerOf = readerOf;
  }

  update(list: readonly ListedReader[]): void {
    const before = this.#states;
    this.#states = new Map(list.map(({ name, raw }) => [name, raw]));
    for (const name of before.keys()) if (!this.#states.has(name)) this.#handlers.onReaderGone(name);
    for (const [name, raw] of this.#states) {
      if (!before.has(name)) this.#handlers.onReader(this.#readerOf(name));
      if (before.get(name) !== raw) this.#handlers.onChange(name, raw);
    }
  }
}
