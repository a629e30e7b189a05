import type { EventRecord } from '../domain/journal.ts';
import { bitOf, notificationOf, type TypeSet, textFrame } from './frames.ts';

/** Bytes after which a new block is begun: what is written to a socket at once. */
const BLOCK_BYTES = 32 * 1024;

interface Mark {
  readonly id: number;
  readonly type: TypeSet;
  readonly start: number;
  readonly end: number;
}

/** The frames of a stretch of the journal, in one buffer that all consumers share. Holds at least one frame. */
export class Block {
  /** Id of the last entry before the stretch. */
  readonly after: number;
  /** Id of the last entry of the stretch. */
  readonly through: number;
  readonly bytes: Buffer;
  readonly #marks: readonly Mark[];
  readonly #types: TypeSet;

  constructor(after: number, through: number, marks: readonly Mark[], bytes: Buffer) {
    this.after = after;
    this.through = through;
    this.bytes = bytes;
    this.#marks = marks;
    this.#types = marks.reduce((set, mark) => set | mark.type, 0);
  }

  /** What somebody who has everything up to `cursor` and wants these types is to be sent; null for nothing. */
  select(cursor: number, wanted: TypeSet): Buffer | null {
    if ((this.#types & wanted) === 0 || cursor >= this.through) return null;
    if (cursor <= this.after && (this.#types & ~wanted) === 0) return this.bytes;
    const parts: Buffer[] = [];
    for (const { id, type, start, end } of this.#marks)
      if (id > cursor && (type & wanted) !== 0) parts.push(this.bytes.subarray(start, end));
    return parts.length > 1 ? Buffer.concat(parts) : (parts[0] ?? null);
  }
}

/** The blocks of events that follow each other in the journal, the first of them next after `after`. */
export function blocksOf(events: readonly EventRecord[], after: number): Block[] {
  const blocks: Block[] = [];
  let from = after;
  let last = after;
  let marks: Mark[] = [];
  let frames: Buffer[] = [];
  let size = 0;
  const finish = () => {
    if (marks.length) blocks.push(new Block(from, last, marks, frames.length > 1 ? Buffer.concat(frames) : frames[0]!));
    [from, marks, frames, size] = [last, [], [], 0];
  };
  for (const event of events) {
    const notification = notificationOf(event);
    if (notification) {
      const frame = textFrame(JSON.stringify(notification));
      if (size > 0 && size + frame.length > BLOCK_BYTES) finish();
      marks.push({ id: event.id, type: bitOf(event.type), start: size, end: size + frame.length });
      frames.push(frame);
      size += frame.length;
    }
    last = event.id;
  }
  finish();
  return blocks;
}
