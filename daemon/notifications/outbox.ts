/** Queue of one consumer: backfill from the journal, then what is in memory, then live events. */
import { stream } from '../../src/contract/values.ts';
import type { JournalBlock } from './block.ts';
import { journalTypes, type TypeSet } from './frames.ts';
import type { Recent } from './recent.ts';

/** A connection as the stream sees it: it takes whole frames and reports how far they got. */
export interface FrameSink {
  /** Writes whole frames. Connections share the buffer, so it must not be changed. */
  write(frames: Buffer): void;
  /** True while no more should be written. The owner calls `Consumer.pump` when that ends. */
  readonly full: boolean;
  /** Bytes written that the operating system has not taken yet. */
  readonly waiting: number;
  /** Bytes that the operating system has taken. */
  readonly taken: number;
  ping(): void;
  /** Starts the closing handshake; what was written is still sent. */
  close(code: number, reason: string): void;
  /** Closes the connection at once. */
  terminate(): void;
}

/** A frame of KEY_*, shared by all consumers. */
interface KeyFrame {
  readonly type: TypeSet;
  readonly bytes: Buffer;
  /** End of the journal when the event happened: entries up to this id are sent before it. */
  readonly after: number;
}

/** Dependencies of an outbox. */
export interface OutboxOptions {
  readonly sink: FrameSink;
  readonly recent: Recent;
  readonly recentForAdmins: Recent;
  /** Whether the consumer is an ADMIN at this moment, and sees who did what. */
  readonly withActor: () => boolean;
  readonly wanted: TypeSet;
  /** Number of the device whose events are wanted; null or absent for those of all. */
  readonly device?: number | null | undefined;
  /** Id of the last event that the consumer has. */
  readonly cursor: number;
  /** Starts to read the journal from `cursor`; ends with `receiveHistory` or `historyFailed`. */
  readonly requestHistory: (outbox: Outbox) => void;
  /** After `requestHistory`: what follows `cursor` is in memory again. */
  readonly onCaughtUp: (outbox: Outbox) => void;
}

/**
 * Sends every wanted event after its cursor once and in order. What the connection does not take stays in the journal;
 * only KEY_* frames, which are not in the journal, wait here.
 */
export class Outbox {
  readonly wanted: TypeSet;
  readonly device: number | null;
  readonly #options: OutboxOptions;
  #cursor: number;
  #history: JournalBlock[] = [];
  #historyThrough = 0;
  #isHistoryOfAdmin = false;
  #requested = false;
  #isBehind = false;
  readonly #keys: KeyFrame[] = [];
  #keyBytes = 0;

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.wanted = options.wanted;
    this.device = options.device ?? null;
    // A consumer without a subscription to the journal has received all of its events.
    this.#cursor = options.wanted & journalTypes ? options.cursor : Number.POSITIVE_INFINITY;
  }

  get withActor(): boolean {
    return this.#options.withActor();
  }

  /** Id of the last event that was sent or that is not wanted. */
  get cursor(): number {
    return this.#cursor;
  }

  /** Sends as much as the connection takes. */
  pump(): void {
    while (!this.#options.sink.full && (this.#sendKey() || this.#sendHistory() || this.#sendRecent()));
  }

  /** Queues a frame. False if more bytes now wait for this consumer than are allowed. */
  addKey(frame: KeyFrame): boolean {
    if ((frame.type & this.wanted) === 0n) return true;
    this.#keys.push(frame);
    this.#keyBytes += frame.bytes.length;
    return this.#keyBytes + this.#historyBytes() + this.#options.sink.waiting <= stream.bufferBytes;
  }

  /**
   * Takes the blocks of the journal after the cursor; they contain every wanted event up to `through`. `forAdmin`: as an ADMIN sees them.
   */
  receiveHistory(blocks: readonly JournalBlock[], through: number, forAdmin = false): void {
    this.#requested = false;
    this.#isHistoryOfAdmin = forAdmin;
    this.#history = [...blocks];
    this.#historyThrough = through;
    this.pump();
  }

  /** The journal could not be read. The next `pump` requests it again. */
  historyFailed(): void {
    this.#requested = false;
  }

  #sendKey(): boolean {
    const frame = this.#keys[0];
    if (!frame || frame.after > this.#cursor) return false;
    this.#keys.shift();
    this.#keyBytes -= frame.bytes.length;
    this.#options.sink.write(frame.bytes);
    return true;
  }

  #sendHistory(): boolean {
    // Since the read, the consumer may have lost the role: the rest is read again.
    if (this.#isHistoryOfAdmin && !this.withActor) {
      this.#history = [];
      return false;
    }
    const block = this.#history.shift();
    if (block) return this.#sendBlock(block);
    return this.#advance(this.#historyThrough);
  }

  #sendRecent(): boolean {
    const { requestHistory, onCaughtUp } = this.#options;
    const recent = this.withActor ? this.#options.recentForAdmins : this.#options.recent;
    if (!recent.reaches(this.#cursor)) {
      this.#isBehind = true;
      if (!this.#requested) {
        this.#requested = true;
        requestHistory(this);
      }
      return false;
    }
    if (this.#isBehind) {
      this.#isBehind = false;
      onCaughtUp(this);
    }
    const block = recent.next(this.#cursor);
    return block ? this.#sendBlock(block) : this.#advance(recent.through);
  }

  #sendBlock(block: JournalBlock): boolean {
    const frames = block.select(this.#cursor, this.wanted, this.device);
    if (frames) this.#options.sink.write(frames);
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
