import type { Worker } from 'node:worker_threads';
import type { ListedReader } from '../../protocols/pcscd.ts';
import type { Calls, Request, Response } from './calls.ts';
import { PcscFailure } from './results.ts';
import { startWorker } from './start-worker.ts';

/** A thread for calls of PC/SC, which block: one after the other. */
export class PcscThread {
  readonly #worker: Worker;
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>();
  #lastId = 0;
  /** Why the thread has ended; null while it runs. */
  #failure: Error | null = null;

  /** Receives the reports of the call `watch`. */
  onReaders: (readers: readonly ListedReader[]) => void = () => undefined;

  constructor() {
    this.#worker = startWorker();
    this.#worker.on('message', (response: Response) => {
      if ('readers' in response) this.onReaders(response.readers);
      else this.#settle(response);
    });
    this.#worker.on('error', error => this.#end(error instanceof Error ? error : new Error(String(error))));
    this.#worker.on('exit', () => this.#end(new Error('The thread of PC/SC has ended')));
    this.#worker.unref();
  }

  /** Rejects with PcscFailure, or with the error of a thread that could not start. Keeps the process running until it settles. */
  call<K extends keyof Calls>(call: K, ...values: Parameters<Calls[K]>): Promise<ReturnType<Calls[K]>> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    const id = ++this.#lastId;
    const pending = Promise.withResolvers<unknown>();
    this.#pending.set(id, pending);
    this.#worker.ref();
    this.#worker.postMessage({ id, call, values } satisfies Request);
    return pending.promise as Promise<ReturnType<Calls[K]>>;
  }

  /** Whether it takes no calls any more. */
  hasEnded(): boolean {
    return this.#failure !== null;
  }

  /** Resolves when the call that is under way has returned. */
  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #settle(response: Exclude<Response, { readers: unknown }>): void {
    const pending = this.#pending.get(response.id);
    this.#pending.delete(response.id);
    if (this.#pending.size === 0) this.#worker.unref();
    if ('result' in response) pending?.reject(new PcscFailure(response.result));
    else pending?.resolve(response.value);
  }

  #end(failure: Error): void {
    this.#failure ??= failure;
    for (const { reject } of this.#pending.values()) reject(this.#failure);
    this.#pending.clear();
  }
}

/** How many threads wait for the next card: each takes some 6 MB, and some 50 ms to start. */
const MAX_IDLE = 2;

/** The threads for cards. A card has one from its connection to its end, because a silent card blocks it. */
export class ThreadPool {
  readonly #idle: PcscThread[] = [new PcscThread()];
  #open = true;

  take(): PcscThread {
    const idle = this.#idle.pop();
    return idle === undefined || idle.hasEnded() ? new PcscThread() : idle;
  }

  /** The thread has no connection any more. */
  give(thread: PcscThread): void {
    if (this.#open && this.#idle.length < MAX_IDLE) this.#idle.push(thread);
    else void thread.end();
  }

  /** Threads that are in use end when they are given back. */
  close(): void {
    this.#open = false;
    for (const thread of this.#idle.splice(0)) void thread.end();
  }
}
