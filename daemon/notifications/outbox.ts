/** What one consumer is still to be sent: backfill from the journal, cutover to what is kept in memory, then live. */
import { stream } from '../../src/contract/events.ts';
import type { Block } from './block.ts';
import { journalTypes, type TypeSet } from './frames.ts';
import type { Recent } from './recent.ts';
import type { Sink } from './sink.ts';

/** A frame of KEY_*: made once, shared by all consumers. */
export interface KeyFrame {
  readonly type: TypeSet;
  readonly bytes: Buffer;
  /** End of the journal when it happened: everything up to there is sent before it. */
  readonly after: number;
}

export interface OutboxParts {
  readonly sink: Sink;
  readonly recent: Recent;
  readonly wanted: TypeSet;
  /** Id of the last event that the consumer has. */
  readonly cursor: number;
  /** Reads the journal from `cursor` on and answers with `takeHistory`. */
  readonly askHistory: (outbox: Outbox) => void;
}

/**
 * Sends every wanted event after its cursor once and in order. What the connection does not take stays in the journal;
 * only KEY_* frames, which are in no journal, wait here.
 */
export class Outbox {
  readonly wanted: TypeSet;
  readonly #parts: OutboxParts;
  #cursor: number;
  #history: Block[] = [];
  #historyThrough = 0;
  #asked = false;
  readonly #keys: KeyFrame[] = [];
  #keyBytes = 0;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
    this.wanted = parts.wanted;
    // Who wants nothing of the journal has all of it.
    this.#cursor = parts.wanted & journalTypes ? parts.cursor : Number.POSITIVE_INFINITY;
  }

  get cursor(): number {
    return this.#cursor;
  }

  /** Sends what is there, as far as the connection takes it. */
  pump(): void {
    while (!this.#parts.sink.full && (this.#sendKey() || this.#sendHistory() || this.#sendRecent()));
  }

  /** Queues a frame; false where more would then wait for this consumer than may. */
  addKey(frame: KeyFrame): boolean {
    if ((frame.type & this.wanted) === 0) return true;
    this.#keys.push(frame);
    this.#keyBytes += frame.bytes.length;
    return this.#keyBytes + this.#historyBytes() + this.#parts.sink.waiting <= stream.bufferBytes;
  }

  /** What was asked for: blocks of the journal after the cursor, which hold all that is wanted up to `through`. */
  takeHistory(blocks: readonly Block[], through: number): void {
    this.#asked = false;
    this.#history = [...blocks];
    this.#historyThrough = through;
    this.pump();
  }

  /** The journal could not be read; it is asked again at the next `pump`. */
  historyFailed(): void {
    this.#asked = false;
  }

  #sendKey(): boolean {
    const frame = this.#keys[0];
    if (!frame || frame.after > this.#cursor) return false;
    this.#keys.shift();
    this.#keyBytes -= frame.bytes.length;
    this.#parts.sink.write(frame.bytes);
    return true;
  }

  #sendHistory(): boolean {
    const block = this.#history.shift();
    if (block) return this.#sendBlock(block);
    return this.#advance(this.#historyThrough);
  }

  #sendRecent(): boolean {
    const { recent, askHistory } = this.#parts;
    if (!recent.reaches(this.#cursor)) {
      if (!this.#asked) {
        this.#asked = true;
        askHistory(this);
      }
      return false;
    }
    const block = recent.next(this.#cursor);
    return block ? this.#sendBlock(block) : this.#advance(recent.through);
  }

  #sendBlock(block: Block): boolean {
    const frames = block.select(this.#cursor, this.wanted);
    if (frames) this.#parts.sink.write(frames);
    this.#advance(block.through);
    return true;
  }

  #advance(through: number): boolean {
    if (through <= this.#cursor) return false;
    this.#cursor = through;
    return true;
  }

  #historyBytes(): number {
    return this.#history.reduce((sum, block) => sum + block.bytes.length, 0);
  }
}
