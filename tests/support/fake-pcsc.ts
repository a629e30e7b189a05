/** A fake PC/SC binding, for readers that do what no virtual reader can be made to do. */
import { EventEmitter } from 'node:events';
import type { Pcsc } from '../../drivers/pcsc/library.ts';
import type { CardProgram } from './vcard-programs.ts';

const PRESENT = 0x20;

interface FakeCard {
  readonly program: CardProgram;
  /** USB location of a reader inside a key. */
  readonly location?: readonly [bus: number, address: number];
  /** Connecting waits until this settles: another program is in a transaction. */
  readonly held?: Promise<void>;
}

export class FakeReader extends EventEmitter {
  readonly #name: string;
  readonly card: FakeCard;
  /** How many connections were made. */
  connections = 0;

  constructor(name: string, card: FakeCard) {
    super();
    this.#name = name;
    this.card = card;
  }

  name(): string {
    return this.#name;
  }

  async connect() {
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
      transmit: async (command: Uint8Array) => program.answer(command),
      disconnect: async () => undefined,
    };
  }
}

/** The service and its readers. */
export class FakePcsc {
  readonly #readers = new Map<string, FakeReader>();
  readonly #clients = new Set<EventEmitter>();

  plug(name: string, card: FakeCard): FakeReader {
    const reader = new FakeReader(name, card);
    this.#readers.set(name, reader);
    for (const client of this.#clients) report(client, reader);
    return reader;
  }

  /** Unplugs a reader without telling any client. */
  forget(name: string): void {
    this.#readers.delete(name);
  }

  /** All clients fail with the binding's error of this name. */
  fail(code: string): void {
    const clients = [...this.#clients];
    this.#clients.clear();
    for (const client of clients) client.emit('error', Object.assign(new Error(code), { code }));
  }

  /** The binding, for `load`. */
  binding(): Pcsc {
    const clients = this.#clients;
    const onStart = (client: EventEmitter) => {
      clients.add(client);
      // As with the binding, events come after the caller has added its listeners.
      queueMicrotask(() => {
        for (const reader of this.#readers.values()) report(client, reader);
      });
    };
    class Client extends EventEmitter {
      start(): void {
        onStart(this);
      }
      stop(): void {
        clients.delete(this);
      }
    }
    return {
      Client,
      MAX_READERS: 4,
      ReaderStatus: { PRESENT, MUTE: 0x200, EXCLUSIVE: 0x80 },
      CardMode: { EXCLUSIVE: 1, SHARED: 2, DIRECT: 3 },
      CardDisposition: { LEAVE: 0, RESET: 1 },
      Protocol: { UNSET: 0, T0: 1, T1: 2, ANY: 3 },
    } as unknown as Pcsc;
  }
}

/** Reports a reader with a card in it. */
function report(client: EventEmitter, reader: FakeReader): void {
  reader.removeAllListeners();
  client.emit('reader', reader);
  const raw = 0x1_0000 + PRESENT;
  reader.emit('change', { raw, has: (flag: number) => (raw & flag) !== 0 });
}
