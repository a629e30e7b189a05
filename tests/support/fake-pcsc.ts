/** A table in the place of the PC/SC binding, for readers that do what no virtual reader can be made to do. */
import { EventEmitter } from 'node:events';
import type { Pcsc } from '../../drivers/pcsc/library.ts';
import type { CardProgram } from './vcard-programs.ts';

const PRESENT = 0x20;

interface FakeCard {
  readonly program: CardProgram;
  /** Place on the USB of a reader inside a key. */
  readonly place?: readonly [bus: number, address: number];
  /** Connecting takes until this settles: another program is in a transaction. */
  readonly held?: Promise<void>;
}

export class FakeReader extends EventEmitter {
  readonly #name: string;
  readonly card: FakeCard;
  /** How often it was connected to. */
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
    const { program, place, held } = this.card;
    this.connections += 1;
    await held;
    return {
      state: async () => ({ atr: program.atr }),
      attributeGet: async () => {
        if (place === undefined) throw new Error('UnsupportedFeature');
        return Uint8Array.of(place[1], place[0], 0x20, 0);
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
    for (const client of this.#clients) tell(client, reader);
    return reader;
  }

  /** Pulled while nobody watches: no client is told. */
  forget(name: string): void {
    this.#readers.delete(name);
  }

  /** What watches fails with the binding's error of this name. */
  fail(code: string): void {
    const clients = [...this.#clients];
    this.#clients.clear();
    for (const client of clients) client.emit('error', Object.assign(new Error(code), { code }));
  }

  /** What `load` gives. */
  binding(): Pcsc {
    const clients = this.#clients;
    const begun = (client: EventEmitter) => {
      clients.add(client);
      // As with the binding, the news come when the caller has put its listeners up.
      queueMicrotask(() => {
        for (const reader of this.#readers.values()) tell(client, reader);
      });
    };
    class Client extends EventEmitter {
      start(): void {
        begun(this);
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

/** A reader with the card in it. */
function tell(client: EventEmitter, reader: FakeReader): void {
  reader.removeAllListeners();
  client.emit('reader', reader);
  const raw = 0x1_0000 + PRESENT;
  reader.emit('change', { raw, has: (flag: number) => (raw & flag) !== 0 });
}
