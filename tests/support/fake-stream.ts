/** A journal in memory and connections that take as much as the test allows, to try the stream in any sequence of events. */

import type { FrameSink } from '../../daemon/notifications/outbox.ts';
import type { EventRecord } from '../../daemon/store/journal.ts';
import type { EventFilter } from '../../daemon/store/queries.ts';
import type { CommitNotice, Store } from '../../daemon/store/store.ts';
import type { Frame } from './stream-client.ts';

export class FakeJournal implements Pick<Store, 'events' | 'lastEventId' | 'onCommit' | 'behind'> {
  readonly entries: EventRecord[] = [];
  readonly #listeners = new Set<(notice: CommitNotice) => void>();
  /** Reads to come that fail. */
  failures = 0;
  reads = 0;

  commit(types: readonly EventRecord['type'][], users: readonly number[] = []): void {
    for (const type of types) {
      const id = this.entries.length + 1;
      const who = { actor: null, requestId: null, subject: null };
      this.entries.push({ id, at: id, type, device: id, data: { deviceType: 'UKEY' }, detail: {}, ...who });
    }
    for (const listener of this.#listeners) listener({ lastEventId: this.entries.length, users, serviceTokens: [] });
  }

  async events({ after, limit, types }: EventFilter): Promise<readonly EventRecord[]> {
    this.reads++;
    const found = this.entries.slice(after).filter(event => !types || types.includes(event.type));
    await new Promise(setImmediate);
    if (this.failures > 0) {
      this.failures--;
      throw new Error('the disk is gone');
    }
    return found.slice(0, limit);
  }

  async lastEventId(): Promise<number> {
    return this.entries.length;
  }

  behind(): number {
    return 0;
  }

  onCommit(listener: (notice: CommitNotice) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** Takes nothing on its own; `take` acts as the operating system. */
export class FakeSink implements FrameSink {
  readonly #room: number;
  #waiting = 0;
  #needsDrain = false;
  taken = 0;
  pings = 0;
  mostWaiting = 0;
  terminated = false;
  closed: { readonly code: number; readonly reason: string } | null = null;
  drained: () => void = () => {};
  readonly #bytes: Buffer[] = [];

  constructor(room = 1000) {
    this.#room = room;
  }

  get full(): boolean {
    return this.#needsDrain;
  }

  get waiting(): number {
    return this.#waiting;
  }

  write(frames: Buffer): void {
    if (this.closed) throw new Error('written to after the end');
    this.#bytes.push(frames);
    this.#waiting += frames.length;
    this.#needsDrain = this.#waiting >= this.#room;
    this.mostWaiting = Math.max(this.mostWaiting, this.#waiting);
  }

  take(bytes = Number.POSITIVE_INFINITY): void {
    const taken = Math.min(bytes, this.#waiting);
    this.#waiting -= taken;
    this.taken += taken;
    if (this.#waiting > 0 || !this.#needsDrain) return;
    this.#needsDrain = false;
    this.drained();
  }

  ping(): void {
    this.pings++;
  }

  close(code: number, reason: string): void {
    this.closed ??= { code, reason };
  }

  terminate(): void {
    this.terminated = true;
  }

  /** Everything that was written. */
  frames(): Frame[] {
    return decodeFrames(Buffer.concat(this.#bytes));
  }
}

/** The texts of unmasked frames; throws where the bytes are not whole frames. */
function decodeFrames(bytes: Buffer): Frame[] {
  const found: Frame[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (bytes[at] !== 0x81) throw new Error(`no final text frame at ${at}`);
    const short = bytes[at + 1]!;
    const head = short < 126 ? 2 : short === 126 ? 4 : 10;
    const length = head === 2 ? short : head === 4 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2));
    found.push(JSON.parse(bytes.toString('utf8', at + head, at + head + length)));
    at += head + length;
  }
  return found;
}
