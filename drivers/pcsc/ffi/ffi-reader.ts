import type { Card, PcscReader, Transaction } from '../transport.ts';
import type { PcscThread, ThreadPool } from './thread.ts';

/** A reader that the service knows by this name. */
export class FfiReader implements PcscReader {
  readonly #name: string;
  readonly #threads: ThreadPool;

  constructor(name: string, threads: ThreadPool) {
    this.#name = name;
    this.#threads = threads;
  }

  name(): string {
    return this.#name;
  }

  async connect(mode: number, protocol: number): Promise<Card> {
    const thread = this.#threads.take();
    try {
      await thread.call('connect', this.#name, mode, protocol);
    } catch (error) {
      this.#threads.give(thread);
      throw error;
    }
    return new FfiCard(thread, () => this.#threads.give(thread));
  }
}

class FfiCard implements Card {
  readonly #thread: PcscThread;
  readonly #release: () => void;

  constructor(thread: PcscThread, release: () => void) {
    this.#thread = thread;
    this.#release = release;
  }

  transmit(apdu: Uint8Array): Promise<Uint8Array> {
    return this.#thread.call('transmit', apdu);
  }

  async transaction(): Promise<Transaction> {
    await this.#thread.call('begin');
    return { end: then => this.#thread.call('end', then) };
  }

  async state(): Promise<{ readonly atr: Uint8Array }> {
    return { atr: await this.#thread.call('atr') };
  }

  attributeGet(id: number): Promise<Uint8Array> {
    return this.#thread.call('attribute', id);
  }

  reconnect(mode: number, initially: number): Promise<void> {
    return this.#thread.call('reconnect', mode, initially);
  }

  /** Never fails because of the card or the service: the end of the context has released the connection. */
  async disconnect(then: number): Promise<void> {
    await this.#thread.call('disconnect', then).catch(() => undefined);
    this.#release();
  }
}
