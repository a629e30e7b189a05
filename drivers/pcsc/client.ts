import { setTimeout as after, setImmediate as turn } from 'node:timers/promises';
import type { Client, Reader, ReaderStatusFlags } from 'pcsc-mini';
import type { Pcsc } from './library.ts';

export interface ClientHandlers {
  onReader(reader: Reader): void;
  onReaderGone(name: string): void;
  onChange(name: string, status: ReaderStatusFlags): void;
  /** The client is dead. */
  onError(error: Error): void;
}

/** A client that watches. No handler is called once `close` was called. */
export interface WatchingClient {
  /** Resolves when nothing of it runs any more, or when that cannot be had. */
  close(): Promise<void>;
}

/**
 * Clients that must not be collected as garbage: the binding's finalizer of one whose service died throws and ends the
 * process, and one with a call still out would have its memory freed under it. One is added each time the service dies,
 * a reader is pulled in the middle of a call, or the driver stops: some kilobytes each.
 */
const graveyard: Client[] = [];

/** A client that could not be started yet. Used again, since each new one costs memory that comes back late. */
let unstarted: Client | null = null;

/** Stopping a client within this time of its last event can lock up the process, see `stopWhenQuiet`. In milliseconds. */
const QUIET = 100;
const MOST_WAIT_FOR_QUIET = 2_000;

/** Connects to the service and begins to watch. Throws the binding's own error where the service is not to be had. */
export function openClient(pcsc: Pcsc, handlers: ClientHandlers): WatchingClient {
  const client = unstarted ?? new pcsc.Client();
  unstarted = client;
  start(client);
  unstarted = null;
  let open = true;
  let lastEvent = performance.now();

  /** What a handler gets while the client is open; every event counts as noise. */
  function heard<A extends unknown[]>(handler: (...args: A) => void): (...args: A) => void {
    return (...args) => {
      lastEvent = performance.now();
      if (open) handler(...args);
    };
  }

  client.on('error', heard(handlers.onError));
  client.on(
    'reader',
    heard(reader => {
      reader.on(
        'change',
        heard(status => handlers.onChange(reader.name(), status)),
      );
      reader.on(
        'disconnect',
        heard(() => handlers.onReaderGone(reader.name())),
      );
      handlers.onReader(reader);
    }),
  );

  return {
    async close() {
      if (!open) return;
      open = false;
      graveyard.push(client);
      await stopWhenQuiet(client, () => performance.now() - lastEvent);
    },
  };
}

function start(client: Client): void {
  try {
    client.start();
  } catch (error) {
    // Else it takes itself for started, and refuses the next start.
    client.stop();
    throw error;
  }
}

/**
 * Stops a client whose watching thread is asleep. The thread holds the lock of the service connection while it sleeps;
 * the binding wakes it and takes that lock. Woken just before it falls asleep, after an event, it would never let go, and
 * this process would stand still. So wait until the last event is some time ago. A client that never comes to rest keeps
 * running, unheard.
 */
async function stopWhenQuiet(client: Client, sinceLastEvent: () => number): Promise<void> {
  const giveUp = performance.now() + MOST_WAIT_FOR_QUIET;
  do {
    await after(Math.max(1, QUIET - sinceLastEvent()));
    // Events that waited while this process was busy come in before the next look.
    await turn();
    if (performance.now() > giveUp) return;
  } while (sinceLastEvent() < QUIET);
  try {
    client.stop();
  } catch {
    // The service died first, and the thread with it.
  }
}
