/** A fake PC/SC service, for readers that do what no virtual reader can be made to do. */
import {
  type Card,
  type Pcsc,
  type PcscReader,
  READER_STATE,
  type WatchHandlers,
} from '../../drivers/pcsc/transport.ts';
import type { CardProgram } from './vcard-programs.ts';

interface FakeCard {
  readonly program: CardProgram;
  /** USB location of a reader inside a key. */
  readonly location?: readonly [bus: number, address: number];
  /** Connecting waits until this settles: another program is in a transaction. */
  readonly held?: Promise<void>;
}

export class FakeReader implements PcscReader {
  readonly #name: string;
  readonly card: FakeCard;
  /** How many connections were made. */
  connections = 0;

  constructor(name: string, card: FakeCard) {
    this.#name = name;
    this.card = card;
  }

  name(): string {
    return this.#name;
  }

  async connect(): Promise<Card> {
    const { program, location, held } = this.card;
    this.connections += 1;
    await held;
    return {
      state: async () => ({ atr: program.atr }),
      attributeGet: async () => {
        if (location === undefined) throw new Error('UnsupportedFeature');
        return Uint8Array.of(location[1], location[0], 0x20, 0);
      },
      transaction: async () => ({ end: async () => undefined }),
      transmit: async command => program.answer(command) ?? new Uint8Array(),
      reconnect: async () => undefined,
      disconnect: async () => undefined,
    };
  }
}

/** The service and its readers. */
export class FakePcsc {
  readonly #readers = new Map<string, FakeReader>();
  readonly #watches = new Set<WatchHandlers>();

  plug(name: string, card: FakeCard): FakeReader {
    const reader = new FakeReader(name, card);
    this.#readers.set(name, reader);
    for (const handlers of this.#watches) report(handlers, reader);
    return reader;
  }

  /** Unplugs a reader without telling any watch. */
  forget(name: string): void {
    this.#readers.delete(name);
  }

  /** All watches fail with the PC/SC error of this name. */
  fail(code: string): void {
    const watches = [...this.#watches];
    this.#watches.clear();
    for (const { onError } of watches) onError(Object.assign(new Error(code), { code }));
  }

  /** The transport, for `load`. */
  transport(): Pcsc {
    return {
      maxReaders: 4,
      watch: async handlers => {
        this.#watches.add(handlers);
        // As with a real transport, events come after the caller has the watch.
        setImmediate(() => {
          for (const reader of this.#readers.values()) if (this.#watches.has(handlers)) report(handlers, reader);
        });
        return { close: async () => void this.#watches.delete(handlers) };
      },
    };
  }
}

/** Reports a reader with a card in it. */
function report(handlers: WatchHandlers, reader: FakeReader): void {
  handlers.onReader(reader);
  handlers.onChange(reader.name(), 0x1_0000 + READER_STATE.PRESENT);
}
