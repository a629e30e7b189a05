/** The readers beyond those that the binding's client watches, seen through the service itself and given as if it did. */
import type { Reader, ReaderStatusFlags } from 'pcsc-mini';
import { loadConnector, type Pcsc } from './library.ts';
import { type ListedReader, type ServiceWatch, watchService } from './service-list.ts';

export interface SurplusParts {
  readonly pcsc: Pcsc;
  /** Whether the client watches the reader of this name. */
  readonly isWatched: (name: string) => boolean;
  readonly onReader: (reader: Reader) => void;
  readonly onReaderGone: (name: string) => void;
  readonly onChange: (name: string, status: ReaderStatusFlags) => void;
  /** They cannot be watched here, for this reason. */
  readonly onEnd: (why: string) => void;
}

export interface Surplus {
  /** The client has taken over this reader: it is told by it from now on. */
  handOver(name: string): void;
  /** Tells nothing more, and nothing of the end. */
  close(): void;
}

/** Connections that one native client can hold; each reader has one at most. */
const READERS_PER_CLIENT = 4;

type Connector = ReturnType<typeof loadConnector>;

/** What was connected through is never let go: see the graveyard of `client.ts`. It is not started, and watches nothing. */
const graveyard: Connector[] = [];

export function watchSurplus(parts: SurplusParts): Surplus {
  const { pcsc } = parts;
  const known = new Map<string, number>();
  // One for each four readers, and new ones at each renewal: a connection that could not be given back takes up a place for good.
  const connectors: Connector[] = [];
  let places = 0;

  function take(list: readonly ListedReader[]): void {
    const there = new Map(list.filter(({ name }) => !parts.isWatched(name)).map(({ name, raw }) => [name, raw]));
    for (const name of [...known.keys()]) {
      if (there.has(name)) continue;
      known.delete(name);
      if (!parts.isWatched(name)) parts.onReaderGone(name);
    }
    for (const [name, raw] of there) {
      const before = known.get(name);
      known.set(name, raw);
      if (before === undefined) parts.onReader(readerOf(name));
      if (before !== raw) parts.onChange(name, new pcsc.ReaderStatusFlags(raw));
    }
  }

  function readerOf(name: string): Reader {
    const index = Math.floor(places++ / READERS_PER_CLIENT) % 4;
    const connector = connectors[index] ?? loadConnector();
    if (connectors[index] === undefined) graveyard.push(connector);
    connectors[index] = connector;
    return new pcsc.Reader(connector, name);
  }

  const watch: ServiceWatch = watchService(take, why => {
    const names = [...known.keys()];
    known.clear();
    for (const name of names) parts.onReaderGone(name);
    parts.onEnd(why);
  });
  return { handOver: name => void known.delete(name), close: () => watch.close() };
}
