import type * as PcscMini from 'pcsc-mini';
import { ReaderList } from '../reader-list.ts';
import type { ReaderWatch, WatchHandlers } from '../transport.ts';
import { Connectors } from './connectors.ts';
import { PcscdSocket } from './pcscd-socket.ts';

/**
 * Watches the readers over pcscd's socket; the binding connects to their cards. The binding's own watch is not used: its thread has a
 * lock while it waits, and ending it needs that lock, so that a cancellation that comes too early stops this process until something
 * happens at a reader. It also watches no more than four readers.
 */
export class ListWatch implements ReaderWatch {
  readonly #socket: PcscdSocket;

  private constructor(socket: PcscdSocket) {
    this.#socket = socket;
  }

  /** Resolves when the service has listed its readers; they are reported after that. Rejects as Pcsc.watch does. */
  static start(binding: typeof PcscMini, handlers: WatchHandlers): Promise<ListWatch> {
    const connectors = new Connectors(binding);
    const list = new ReaderList(
      {
        ...handlers,
        onReaderGone: name => {
          connectors.leave(name);
          handlers.onReaderGone(name);
        },
      },
      name => connectors.readerOf(name),
    );
    const { promise, resolve, reject } = Promise.withResolvers<ListWatch>();
    let started = false;
    const socket = new PcscdSocket({
      onList: readers => {
        started = true;
        resolve(new ListWatch(socket));
        // The caller has the watch when readers are reported.
        setImmediate(() => {
          if (!socket.closed) list.update(readers);
        });
      },
      onEnd: error => (started ? handlers.onError(error) : reject(error)),
    });
    return promise;
  }

  async close(): Promise<void> {
    this.#socket.close();
  }
}
