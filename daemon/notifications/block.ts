import type { EventRecord } from '../store/journal.ts';
import { bitOf, type TypeSet, textFrame, userEventOf } from './frames.ts';

/** Size in bytes at which a block is complete: what is written to a socket at once. */
const BLOCK_BYTES = 32 * 1024;

interface Mark {
  readonly id: number;
  readonly type: TypeSet;
  readonly device: number | null;
  readonly start: number;
  readonly end: number;
}

/** The frames of a range of the journal in one buffer that all consumers share. Holds at least one frame. */
export class JournalBlock {
  /** Id of the last entry before the range. */
  readonly after: number;
  /** Id of the last entry of the range. */
  readonly through: number;
  readonly bytes: Buffer;
  readonly #marks: readonly Mark[];
  readonly #types: TypeSet;

  constructor(after: number, through: number, marks: readonly Mark[], bytes: Buffer) {
    this.after = after;
    this.through = through;
    this.bytes = bytes;
    this.#marks = marks;
    this.#types = marks.reduce((set, mark) => set | mark.type, 0n);
  }

  /** The frames of these types after `cursor`, of one device unless `device` is null; null if there are none. */
  select(cursor: number, wanted: TypeSet, device: number | null = null): Buffer | null {
    if ((this.#types & wanted) === 0n || cursor >= this.through) return null;
    if (device === null && cursor <= this.after && (this.#types & ~wanted) === 0n) return this.bytes;
    const parts: Buffer[] = [];
    for (const { id, type, device: of, start, end } of this.#marks)
      if (id > cursor && (type & wanted) !== 0n && (device === null || device === of))
        parts.push(this.bytes.subarray(start, end));
    return parts.length > 1 ? Buffer.concat(parts) : (parts[0] ?? null);
  }
}

/**
 * Divides consecutive events into blocks. `after` is the id of the last entry before the first event. `forAdmins`: with actors, and the
 * changes of administration.
 */
export function blocksOf(events: readonly EventRecord[], after: number, forAdmins = false): JournalBlock[] {
  const blocks: JournalBlock[] = [];
  let [before, through, size] = [after, after, 0];
  let marks: Mark[] = [];
  let frames: Buffer[] = [];
  const complete = () => {
    if (frames.length === 0) return;
    const bytes = frames.length > 1 ? Buffer.concat(frames) : frames[0]!;
    blocks.push(new JournalBlock(before, through, marks, bytes));
    before = through;
    marks = [];
    frames = [];
    size = 0;
  };
  for (const event of events) {
    const notification = userEventOf(event, forAdmins);
    if (notification) {
      const frame = textFrame(JSON.stringify(notification));
      if (size + frame.length > BLOCK_BYTES) complete();
      const { id, device } = event;
      marks.push({ id, type: bitOf(notification.type), device, start: size, end: size + frame.length });
      frames.push(frame);
      size += frame.length;
    }
    through = event.id;
  }
  complete();
  return blocks;
}
