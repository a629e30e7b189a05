/** The readers beyond those that the binding's client watches. They are read from the service's own list of readers. */
import type * as PcscMini from 'pcsc-mini';
import type * as Addon from 'pcsc-mini/build/addon.node.js';
import type { ListedReader } from '../../protocols/pcscd.ts';
import type { ExtraHandlers, ExtraWatch, PcscReader } from '../transport.ts';
import { requireBinding } from './binding.ts';
import { PcscdSocket } from './pcscd-socket.ts';

type Connector = Addon.Client;

/** Connections that one native client can hold. Each reader needs at most one. */
const READERS_PER_CONNECTOR = 4;
/** pcscd lists at most 16 readers. */
const MAX_CONNECTORS = 4;

/** Connectors must never be garbage-collected: see `retained` in client.ts. */
const retained: Connector[] = [];

/** Watches the extra readers until `close`. */
export class ExtraReaders implements ExtraWatch {
  readonly #binding: typeof PcscMini;
  readonly #handlers: ExtraHandlers;
  readonly #socket: PcscdSocket;
  /** The last raw state of each extra reader, by name. */
  readonly #states = new Map<string, number>();
  /** New ones for each instance: a connection that could not be released takes up room in its connector permanently. */
  readonly #connectors: Connector[] = [];
  #connected = 0;

  constructor(binding: typeof PcscMini, handlers: ExtraHandlers) {
    this.#binding = binding;
    this.#handlers = handlers;
    this.#socket = new PcscdSocket({
      onList: list => this.#update(list),
      onEnd: why => this.#end(why),
    });
  }

  handOver(name: string): void {
    this.#states.delete(name);
  }

  close(): void {
    this.#socket.close();
  }

  #update(list: readonly ListedReader[]): void {
    const extra = new Map(
      list.filter(({ name }) => !this.#handlers.isWatched(name)).map(({ name, raw }) => [name, raw]),
    );
    for (const name of [...this.#states.keys()]) if (!extra.has(name)) this.#remove(name);
    for (const [name, raw] of extra) this.#change(name, raw);
  }

  #remove(name: string): void {
    this.#states.delete(name);
    if (!this.#handlers.isWatched(name)) this.#handlers.onReaderGone(name);
  }

  #change(name: string, raw: number): void {
    const before = this.#states.get(name);
    this.#states.set(name, raw);
    if (before === undefined) this.#handlers.onReader(this.#readerOf(name));
    if (before !== raw) this.#handlers.onChange(name, raw);
  }

  #readerOf(name: string): PcscReader {
    const index = Math.floor(this.#connected++ / READERS_PER_CONNECTOR) % MAX_CONNECTORS;
    const connector = this.#connectors[index] ?? loadConnector();
    if (this.#connectors[index] === undefined) retained.push(connector);
    this.#connectors[index] = connector;
    return new this.#binding.Reader(connector, name);
  }

  #end(why: string): void {
    const names = [...this.#states.keys()];
    this.#states.clear();
    for (const name of names) this.#handlers.onReaderGone(name);
    this.#handlers.onEnd(why);
  }
}

/** A native client that only connects to readers by their names. It must never be started. */
function loadConnector(): Connector {
  return (requireBinding('pcsc-mini/build/addon.node.js') as typeof Addon).newClient();
}
