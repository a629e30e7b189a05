import { createRequire } from 'node:module';
import type * as PcscMini from 'pcsc-mini';
import type * as Addon from 'pcsc-mini/build/addon.node.js';
import { HardwareError } from '../../hardware-error.ts';
import { explainLoadFailure } from '../advice.ts';
import { nativeCode } from '../errors.ts';
import { ReaderList } from '../reader-list.ts';
import type { Card, Pcsc, PcscReader, ReaderWatch, WatchHandlers } from '../transport.ts';
import { PcscdSocket } from './pcscd-socket.ts';

export { UnknownProtocol } from './pcscd-socket.ts';

/**
 * PC/SC over pcscd's socket and pcsc-mini. Throws HardwareError `unavailable` with the fix. A later call tries again, so it finds a
 * library that was installed in the meantime.
 */
export function loadPcscMini(): Pcsc {
  const binding = load();
  return { maxReaders: Number.POSITIVE_INFINITY, watch: handlers => watchList(binding, handlers) };
}

function load(): typeof PcscMini {
  try {
    return requireBinding('pcsc-mini') as typeof PcscMini;
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new HardwareError('unavailable', explainLoadFailure(message), { cause });
  }
}

/**
 * Watches the readers over pcscd's socket; the binding connects to their cards. The binding's own watch is not used: its thread has a
 * lock while it waits, and ending it needs that lock, so that a cancellation that comes too early stops this process until something
 * happens at a reader. It also watches no more than four readers. Resolves when the service has listed its readers; they are reported
 * after that. Rejects as Pcsc.watch does.
 */
function watchList(binding: typeof PcscMini, handlers: WatchHandlers): Promise<ReaderWatch> {
  const connectors = new Connectors(binding);
  const onReaderGone = (name: string) => {
    connectors.leave(name);
    handlers.onReaderGone(name);
  };
  const list = new ReaderList({ ...handlers, onReaderGone }, name => connectors.readerOf(name));
  const { promise, resolve, reject } = Promise.withResolvers<ReaderWatch>();
  let started = false;
  const socket = new PcscdSocket({
    onList: readers => {
      started = true;
      resolve({ close: async () => socket.close() });
      // The caller has the watch when readers are reported.
      setImmediate(() => {
        if (!socket.closed) list.update(readers);
      });
    },
    onEnd: error => (started ? handlers.onError(error) : reject(error)),
  });
  return promise;
}

interface Connector {
  /** It only connects to readers by their names, and is never started. */
  native: Addon.Client;
  readonly readers: Set<string>;
}

/** Connections that one native client can hold. Each reader needs at most one. */
const READERS_PER_CONNECTOR = 4;

/**
 * Native clients must never be garbage-collected: one with a pending call, or with a card that is still referenced, would have its memory
 * freed under it. Some kilobytes each; four serve the 16 readers that pcscd can have, and a watch that is renewed has new ones.
 */
const retained: Addon.Client[] = [];

function newClient(): Addon.Client {
  const client = (requireBinding('pcsc-mini/build/addon.node.js') as typeof Addon).newClient();
  retained.push(client);
  return client;
}

/** The native clients of one watch. A connection that could not be released takes up room in its client permanently. */
class Connectors {
  readonly #binding: typeof PcscMini;
  readonly #connectors: Connector[] = [];

  constructor(binding: typeof PcscMini) {
    this.#binding = binding;
  }

  /** A reader of the service that was plugged in. */
  readerOf(name: string): PcscReader {
    const connector = this.#connectors.find(one => one.readers.size < READERS_PER_CONNECTOR) ?? this.#add();
    connector.readers.add(name);
    return { name: () => name, connect: (mode, protocol) => this.#connect(connector, name, mode, protocol) };
  }

  /** The reader was unplugged. */
  leave(name: string): void {
    for (const { readers } of this.#connectors) readers.delete(name);
  }

  /** A connection that did not reach the service takes up room in its client permanently as well. A full client is replaced. */
  async #connect(connector: Connector, name: string, mode: number, protocol: number): Promise<Card> {
    const connect = () => new this.#binding.Reader(connector.native, name).connect(mode, protocol);
    try {
      return await connect();
    } catch (error) {
      if (nativeCode(error) !== 'TooManyCardConnections') throw error;
      connector.native = newClient();
      return await connect();
    }
  }

  #add(): Connector {
    const connector = { native: newClient(), readers: new Set<string>() };
    this.#connectors.push(connector);
    return connector;
  }
}

/**
 * Loads a module of the binding; throws if it or a library of the system is missing. `require` tries again after a failure,
 * so that a library installed since then is found; `import` would remember the failure.
 */
const requireBinding: (name: 'pcsc-mini' | 'pcsc-mini/build/addon.node.js') => unknown = createRequire(import.meta.url);
