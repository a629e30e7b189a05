import { isBuiltin } from 'node:module';
import { setTimeout as after } from 'node:timers/promises';
import { trackNativeCall } from '../../exit.ts';
import { HardwareError } from '../../hardware-error.ts';
import { explainLoadFailure, explainNoFfi } from '../advice.ts';
import { ReaderList } from '../reader-list.ts';
import type { Card, Pcsc, PcscReader, ReaderWatch, WatchHandlers } from '../transport.ts';
import { abiOf } from './abi.ts';
import { PcscFailure } from './results.ts';
import { PcscThread, ThreadPool } from './thread.ts';

const abi = abiOf(process.platform, process.arch);

/** Whether this Node has node:ffi (from version 26.1), and the layout of PC/SC on this system is known. */
export const ffiAvailable = (): boolean => abi !== null && isBuiltin('node:ffi');

/**
 * PC/SC over the library of the system. Loads nothing: a missing library is the failure of `watch`. Throws HardwareError `unavailable`
 * where this Node or this system has none.
 */
export function loadPcscFfi(): Pcsc {
  if (!ffiAvailable()) throw new HardwareError('unavailable', explainNoFfi());
  return {
    maxReaders: abi?.maxReaders ?? 0,
    watch: handlers =>
      FfiWatch.start(handlers).catch((cause: Error) => {
        if (cause instanceof PcscFailure) throw cause;
        throw new HardwareError('unavailable', explainLoadFailure(cause.message), { cause });
      }),
  };
}

/** Milliseconds until a cancellation that came before the call it should end is repeated, and the most to wait for the end. */
const CANCEL_AGAIN = 50;
const MAX_WAIT = 2_000;

/** A thread that has not reached the service. It is used again, because attempts are repeated and a thread takes time to start. */
let unused: PcscThread | null = null;

/** Watches the readers on a thread of its own. */
class FfiWatch implements ReaderWatch {
  readonly #handlers: WatchHandlers;
  readonly #monitor: PcscThread;
  readonly #context: number | bigint;
  readonly #threads = new ThreadPool();
  readonly #stop = new Int32Array(new SharedArrayBuffer(4));
  readonly #ended: Promise<void>;
  #open = true;

  private constructor(handlers: WatchHandlers, monitor: PcscThread, context: number | bigint) {
    this.#handlers = handlers;
    this.#monitor = monitor;
    this.#context = context;
    const list = new ReaderList(handlers, name => ffiReader(name, this.#threads));
    monitor.onReaders = readers => {
      if (this.#open) list.update(readers);
    };
    this.#ended = monitor.call('watch', this.#stop).catch(error => this.#fail(error));
  }

  /** Resolves when the service is reached. Rejects as Pcsc.watch does. */
  static async start(handlers: WatchHandlers): Promise<FfiWatch> {
    const monitor = unused ?? new PcscThread();
    unused = null;
    try {
      return new FfiWatch(handlers, monitor, await monitor.call('open'));
    } catch (error) {
      if (error instanceof PcscFailure && unused === null) unused = monitor;
      else void monitor.end();
      throw error;
    }
  }

  async close(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    Atomics.store(this.#stop, 0, 1);
    Atomics.notify(this.#stop, 0);
    const ended = trackNativeCall(this.#end());
    await Promise.race([ended, after(MAX_WAIT, undefined, { ref: false })]);
  }

  #fail(error: Error): void {
    if (this.#open) this.#handlers.onError(error);
  }

  /** The context is released after the last cancellation, which uses it on another thread. */
  async #end(): Promise<void> {
    let watching = true;
    const ended = this.#ended.then(() => {
      watching = false;
    });
    const canceler = this.#threads.take();
    while (watching) {
      await canceler.call('cancel', this.#context).catch(() => undefined);
      await Promise.race([ended, after(CANCEL_AGAIN)]);
    }
    this.#threads.give(canceler);
    this.#threads.close();
    await this.#monitor.call('close').catch(() => undefined);
    await this.#monitor.end();
  }
}

/** A reader that the service knows by this name. */
const ffiReader = (name: string, threads: ThreadPool): PcscReader => ({
  name: () => name,
  async connect(mode, protocol) {
    const thread = threads.take();
    try {
      await thread.call('connect', name, mode, protocol);
    } catch (error) {
      threads.give(thread);
      throw error;
    }
    return ffiCard(thread, () => threads.give(thread));
  },
});

const ffiCard = (thread: PcscThread, release: () => void): Card => ({
  transmit: apdu => thread.call('transmit', apdu),
  async transaction() {
    await thread.call('begin');
    return { end: then => thread.call('end', then) };
  },
  state: async () => ({ atr: await thread.call('atr') }),
  attributeGet: id => thread.call('attribute', id),
  reconnect: (mode, initially) => thread.call('reconnect', mode, initially),
  // Never fails because of the card or the service: the end of the context has released the connection.
  async disconnect(then) {
    await thread.call('disconnect', then).catch(() => undefined);
    release();
  },
});
