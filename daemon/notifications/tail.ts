import type { Store } from '../store/store.ts';
import { blocksOf } from './block.ts';
import { Recent } from './recent.ts';

/** Entries per read while following the journal. */
const BATCH = 500;
/** Entries read into memory for the first reader: after a restart, clients reconnect with nearly the same cursor. */
const WARM = 1000;

/** Dependencies of `Tail`. */
interface Options {
  readonly store: Pick<Store, 'events' | 'lastEventId'>;
  /** There are new entries. */
  readonly onGrowth: () => void;
  readonly onError: (error: unknown) => void;
}

/** The end of the journal: its id, and its newest entries while there are readers. */
export class Tail {
  readonly recent = new Recent(0);
  /** Recent events for ADMINs, with their actors. */
  readonly recentForAdmins = new Recent(0);
  readonly #options: Options;
  /** -1 until it is known. */
  #head = -1;
  #readers = 0;
  #following = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Id of the last entry known to be committed. */
  get head(): number {
    return this.#head;
  }

  /** Resolves when the head is known. Rejects if the store cannot be read. */
  async ready(): Promise<void> {
    if (this.#head < 0) await this.#readHead();
  }

  /** Whether an id is in the journal. Rejects if the store cannot be read. */
  async reaches(id: number): Promise<boolean> {
    await this.ready();
    // A range read from the store may reach further than the commits that were reported.
    if (id > this.#head) await this.#readHead();
    return id <= this.#head;
  }

  committed(lastEventId: number): void {
    this.#head = Math.max(this.#head, lastEventId);
    // The requests whose commit it was are answered first.
    if (this.#readers > 0 && !this.#following) setImmediate(() => void this.follow());
  }

  addReader(): void {
    if (this.#readers++ === 0)
      for (const recent of [this.recent, this.recentForAdmins]) recent.restart(Math.max(0, this.#head - WARM));
    void this.follow();
  }

  removeReader(): void {
    this.#readers--;
  }

  /** Reads new entries into memory. Never rejects; after a failure, the next call tries again. */
  async follow(): Promise<void> {
    if (this.#following) return;
    this.#following = true;
    try {
      while (this.#readers > 0 && this.recent.through < this.#head) await this.#read();
    } catch (error) {
      this.#options.onError(error);
    } finally {
      this.#following = false;
    }
  }

  async #read(): Promise<void> {
    const after = this.recent.through;
    const head = this.#head;
    const events = await this.#options.store.events({ after, through: head, limit: BATCH });
    // During the read the last reader may have left and another one joined, for which `recent` was restarted.
    if (after !== this.recent.through) return;
    const last = events.at(-1)?.id ?? after;
    const through = events.length < BATCH ? Math.max(head, last) : last;
    this.recent.append(blocksOf(events, after), through);
    this.recentForAdmins.append(blocksOf(events, after, true), through);
    this.#options.onGrowth();
  }

  async #readHead(): Promise<void> {
    const last = await this.#options.store.lastEventId();
    this.#head = Math.max(this.#head, last);
  }
}
