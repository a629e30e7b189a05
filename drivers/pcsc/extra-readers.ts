/** The readers beyond those that the binding's client watches. They are read from the service's own list of readers. */
import type { Reader, ReaderStatusFlags } from 'pcsc-mini';
import type { ListedReader } from '../protocols/pcscd.ts';
import { loadConnector, type Pcsc } from './library.ts';
import { PcscdSocket } from './pcscd-socket.ts';

/** Receives the same events about extra readers as a client reports about the readers that it watches. */
export interface ExtraReadersParts {
  readonly pcsc: Pcsc;
  /** Whether the client watches the reader of this name. */
  readonly isWatched: (name: string) => boolean;
  readonly onReader: (reader: Reader) => void;
  readonly onReaderGone: (name: string) => void;
  readonly onChange: (name: string, status: ReaderStatusFlags) => void;
  /** Extra readers cannot be watched on this machine (any more). */
  readonly onEnd: (why: string) => void;
}

type Connector = ReturnType<typeof loadConnector>;

/** Connections that one native client can hold. Each reader needs at most one. */
const READERS_PER_CONNECTOR = 4;
/** pcscd lists at most 16 readers. */
const MAX_CONNECTORS = 4;

/** Connectors must never be garbage-collected: see `retained` in client.ts. */
const retained: Connector[] = [];

/** Watches the extra readers until `close`. */
export class ExtraReaders {
  readonly #parts: ExtraReadersParts;
  readonly #socket: PcscdSocket;
  /** The last raw state of each extra reader, by name. */
  readonly #states = new Map<string, number>();
  /** New ones for each instance: a connection that could not be released takes up room in its connector for good. */
  readonly #connectors: Connector[] = [];
  #connected = 0;

  constructor(parts: ExtraReadersParts) {
    this.#parts = parts;
    this.#socket = new PcscdSocket({
      onList: list => this.#update(list),
      onEnd: why => this.#end(why),
    });
  }

  /** The client watches this reader from now on and reports it. */
  handOver(name: string): void {
    this.#states.delete(name);
  }

  /** Nothing is reported after this. */
  close(): void {
    this.#socket.close();
  }

  #update(list: readonly ListedReader[]): void {
    const extra = new Map(list.filter(({ name }) => !this.#parts.isWatched(name)).map(({ name, raw }) => [name, raw]));
    for (const name of [...this.#states.keys()]) if (!extra.has(name)) this.#remove(name);
    for (const [name, raw] of extra) this.#change(name, raw);
  }

  #remove(name: string): void {
    this.#states.delete(name);
    if (!this.#parts.isWatched(name)) this.#parts.onReaderGone(name);
  }

  #change(name: string, raw: number): void {
    const before = this.#states.get(name);
    this.#states.set(name, raw);
    if (before === undefined) this.#parts.onReader(this.#readerOf(name));
    if (before !== raw) this.#parts.onChange(name, new this.#parts.pcsc.ReaderStatusFlags(raw));
  }

  #readerOf(name: string): Reader {
    const index = Math.floor(this.#connected++ / READERS_PER_CONNECTOR) % MAX_CONNECTORS;
    const connector = this.#connectors[index] ?? loadConnector();
    if (this.#connectors[index] === undefined) retained.push(connector);
    this.#connectors[index] = connector;
    return new this.#parts.pcsc.Reader(connector, name);
  }

  #end(why: string): void {
    const names = [...this.#states.keys()];
    this.#states.clear();
    for (const name of names) this.#parts.onReaderGone(name);
    this.#parts.onEnd(why);
  }
}
