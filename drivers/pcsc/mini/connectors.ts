import type * as PcscMini from 'pcsc-mini';
import type * as Addon from 'pcsc-mini/build/addon.node.js';
import type { PcscReader } from '../transport.ts';
import { requireBinding } from './binding.ts';

/** A native client that only connects to readers by their names: it is never started. */
type Native = Addon.Client;

interface Connector {
  readonly native: Native;
  readonly readers: Set<string>;
}

/** Connections that one native client can hold. Each reader needs at most one. */
const READERS_PER_CONNECTOR = 4;

/**
 * Native clients must never be garbage-collected: one with a pending call, or with a card that is still referenced, would have its memory
 * freed under it. Some kilobytes each; four serve the 16 readers that pcscd can have, and a watch that is renewed has new ones.
 */
const retained: Native[] = [];

/** The native clients of one watch. A connection that could not be released takes up room in its client permanently. */
export class Connectors {
  readonly #binding: typeof PcscMini;
  readonly #connectors: Connector[] = [];

  constructor(binding: typeof PcscMini) {
    this.#binding = binding;
  }

  /** A reader of the service that was plugged in. */
  readerOf(name: string): PcscReader {
    const { native, readers } = this.#connectors.find(one => one.readers.size < READERS_PER_CONNECTOR) ?? this.#add();
    readers.add(name);
    return new this.#binding.Reader(native, name);
  }

  /** The reader was unplugged. */
  leave(name: string): void {
    for (const { readers } of this.#connectors) readers.delete(name);
  }

  #add(): Connector {
    const { newClient } = requireBinding('pcsc-mini/build/addon.node.js') as typeof Addon;
    const connector = { native: newClient(), readers: new Set<string>() };
    retained.push(connector.native);
    this.#connectors.push(connector);
    return connector;
  }
}
