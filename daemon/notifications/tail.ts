import type { Store } from '../store/store.ts';
import { blocksOf } from './block.ts';
import { Recent } from './recent.ts';

/** Entries read at a time while following the journal. */
const PORTION = 500;
/** Entries read into memory when the first reader comes: after a restart everybody is back with nearly the same cursor. */
const WARM = 1000;

export interface TailParts {
  readonly store: Pick<Store, 'events' | 'lastEventId'>;
  /** There is something new in `recent`. */
  readonly grown: () => void;
  readonly failed: (error: unknown) => void;
}

/** The end of the journal: where it is and, as long as anybody reads, what stands there. */
export class Tail {
  readonly recent = new Recent(0);
  readonly #parts: TailParts;
  /** -1 while it is not known. */
  #head = -1;
  #readers = 0;
  #following = false;

  constructor(parts: TailParts) {
    this.#parts = parts;
  }

  /** Id of the last entry known to be committed. */
  get head(): number {
    return this.#head;
  }

  /** Resolves when the head is known. Rejects where the store cannot be read. */
  async ready(): Promise<void> {
    if (this.#head < 0) await this.#ask();
  }

  /** Whether an id lies within the journal. Rejects where the store cannot be read. */
  async reaches(id: number): Promise<boolean> {
    await this.ready();
    // A stretch read from the store may reach beyond what commits have told so far.
    if (id > this.#head) await this.#ask();
    return id <= this.#head;
  }

  committed(lastEventId: number): void {
    this.#head = Math.max(this.#head, lastEventId);
    // Those whose commit it was are answered first.
    if (this.#readers > 0 && !this.#following) setImmediate(() => void this.follow());
  }

  join(): void {
    if (this.#readers++ === 0) this.recent.restart(Math.max(0, this.#head - WARM));
    void this.follow();
  }

  leave(): void {
    this.#readers--;
  }

  /** Reads what is new into memory, once for everybody. Never rejects; what failed is tried again at the next call. */
  async follow(): Promise<void> {
    if (this.#following) return;
    this.#following = true;
    try {
      while (this.#readers > 0 && this.recent.through < this.#head) await this.#read();
    } catch (error) {
      this.#parts.failed(error);
    } finally {
      this.#following = false;
    }
  }

  async #read(): Promise<void> {
    const after = this.recent.through;
    const head = this.#head;
    const events = await this.#parts.store.events({ after, limit: PORTION });
    // Meanwhile the last reader may have left and another come, for whom it began anew.
    if (after !== this.recent.through) return;
    const last = events.at(-1)?.id ?? after;
    this.recent.append(blocksOf(events, after), events.length < PORTION ? Math.max(head, last) : last);
    this.#parts.grown();
  }

  async #ask(): Promise<void> {
    const last = await this.#parts.store.lastEventId();
    this.#head = Math.max(this.#head, last);
  }
}
