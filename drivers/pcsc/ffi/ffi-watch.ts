import { setTimeout as after } from 'node:timers/promises';
import { trackNativeCall } from '../../exit.ts';
import { ReaderList } from '../reader-list.ts';
import type { ReaderWatch, WatchHandlers } from '../transport.ts';
import { FfiReader } from './ffi-reader.ts';
import { PcscFailure } from './results.ts';
import { PcscThread, ThreadPool } from './thread.ts';

/** Milliseconds until a cancellation that came before the call it should end is repeated, and the most to wait for the end. */
const CANCEL_AGAIN = 50;
const MAX_WAIT = 2_000;

/** A thread that has not reached the service. It is used again, because attempts are repeated and a thread takes time to start. */
let unused: PcscThread | null = null;

/** Watches the readers on a thread of its own. */
export class FfiWatch implements ReaderWatch {
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
    const list = new ReaderList(handlers, name => new FfiReader(name, this.#threads));
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
