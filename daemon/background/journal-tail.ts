/** The journal as what is delivered reads it: page by page, then what is committed later. */
import { sleep } from '../../src/delivery/wait.ts';
import type { EventRecord } from '../store/journal.ts';
import type { Store } from '../store/store.ts';

/** Milliseconds until the journal is read without a commit. */
const IDLE_MS = 60_000;

/** The end of a journal, which several deliveries can follow. */
export class JournalTail {
  readonly #store: Pick<Store, 'events' | 'onCommit'>;
  #lastEventId = 0;
  #committed = new AbortController();

  constructor(store: Pick<Store, 'events' | 'onCommit'>) {
    this.#store = store;
  }

  /** Learns of commits until the returned function is called. `onEntry` is called after each one with new entries. */
  follow(onEntry: () => void = () => {}): () => void {
    return this.#store.onCommit(({ lastEventId }) => {
      if (lastEventId <= this.#lastEventId) return;
      this.#lastEventId = lastEventId;
      this.#committed.abort();
      this.#committed = new AbortController();
      onEntry();
    });
  }

  /** The entries after one, in pages of at most `limit`. Ends when the signal is aborted. Rejects with `StoreFailure`. */
  async *pages(after: number, limit: number, signal: AbortSignal): AsyncGenerator<readonly EventRecord[], void> {
    for (let last = after; !signal.aborted; ) {
      const committed = this.next;
      const page = await this.#store.events({ after: last, limit });
      const end = page.at(-1);
      if (end) {
        yield page;
        last = end.id;
      } else await sleep(IDLE_MS, AbortSignal.any([signal, committed]));
    }
  }

  /** Aborts at the next entry. Taken before a read: an entry that is committed during the read must not be missed. */
  get next(): AbortSignal {
    return this.#committed.signal;
  }

  /** Like `sleep`, and ends at the next entry. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
    return sleep(milliseconds, AbortSignal.any([signal, this.#committed.signal]));
  }
}
