/** The contract of every place for stored files. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { youngGrowth } from '../../daemon/base/streamed-memory.ts';
import type { Blobs } from '../../daemon/requests/blobs.ts';
import { sha256 } from '../support/forms.ts';
import { block, MiB } from '../support/sending.ts';

/** A place under test. */
export interface BlobPlace {
  readonly blobs: Blobs;
  /** The names of everything that is there: stored, staged and unfinished. */
  contents(): Promise<readonly string[]>;
  /** Overwrites a stored file by other content of the same length. */
  damage(name: string, content: Buffer): Promise<void>;
}

const PART = 5 * MiB;

/** `length` bytes that differ everywhere. */
export const content = (length: number): Buffer =>
  Buffer.concat(Array(Math.ceil(length / block.length)).fill(block)).subarray(0, length);

/** In pieces that the receiver may detach. */
export function* pieces(bytes: Buffer, size = 64 * 1024): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) {
    const piece = Buffer.allocUnsafeSlow(Math.min(size, bytes.length - at));
    bytes.copy(piece, 0, at);
    yield piece;
  }
}

const stream = (bytes: Buffer, size?: number) => Readable.from(pieces(bytes, size), { objectMode: false });

/** Runs the rules. `open` returns an empty place. */
export function blobRules(open: () => Promise<BlobPlace>): void {
  describe.each([0, 1, 1000, PART - 1, PART, PART + 1, 3 * PART, 4 * PART + 12_345])('a file of %d bytes', length => {
    it('comes back as it was, whole and in parts', async () => {
      const { blobs, contents } = await open();
      const bytes = content(length);
      const staged = await blobs.receive(stream(bytes), length);
      expect(staged).toMatchObject({ size: length, sha256: sha256(bytes) });
      const name = await staged.persist();
      await staged.discard();
      expect(await contents()).toEqual([name]);
      const read = async (start: number, end: number) => {
        const file = await blobs.read(name, length, sha256(bytes));
        const part = file.stream(start, end);
        const found = await buffer(part);
        expect(part.bytesRead).toBe(found.length);
        await file.close();
        return found;
      };
      if (length === 0) await (await blobs.read(name, 0, sha256(bytes))).close();
      else {
        expect((await read(0, length - 1)).equals(bytes)).toBe(true);
        const start = Math.max(0, Math.min(PART - 5, length - 10));
        expect((await read(start, length - 1)).equals(bytes.subarray(start))).toBe(true);
        expect((await read(0, 0)).equals(bytes.subarray(0, 1))).toBe(true);
      }
    });
  });

  it('a file that is larger than allowed is refused and leaves nothing', async () => {
    const { blobs, contents } = await open();
    for (const length of [1001, PART + 1, 2 * PART + 1])
      await expect(blobs.receive(stream(content(length)), length - 1)).rejects.toMatchObject({ problem: 'too-large' });
    expect(await contents()).toEqual([]);
  });

  it('a file whose sender fails leaves nothing', async () => {
    const { blobs, contents } = await open();
    for (const length of [1000, 2 * PART]) {
      const failing = Readable.from(
        (function* () {
          yield* pieces(content(length));
          throw new Error('the sender has gone');
        })(),
        { objectMode: false },
      );
      await expect(blobs.receive(failing, 10 * PART)).rejects.toThrow('the sender has gone');
    }
    expect(await contents()).toEqual([]);
  });

  it('a staged file that is discarded leaves nothing', async () => {
    const { blobs, contents } = await open();
    for (const length of [1000, 2 * PART]) {
      const staged = await blobs.receive(stream(content(length)), length);
      await staged.discard();
      await staged.discard();
    }
    expect(await contents()).toEqual([]);
  });

  it('all staged files can be discarded at once', async () => {
    const { blobs, contents } = await open();
    const staged = [];
    for (const length of [1000, 2 * PART]) staged.push(await blobs.receive(stream(content(length)), length));
    expect(await blobs.discardAll()).toBe(2);
    expect(await contents()).toEqual([]);
    for (const one of staged) await one.discard();
  });

  it('a missing file, a wrong size and a wrong digest are distinguished', async () => {
    const { blobs, damage } = await open();
    const bytes = content(1000);
    const name = await (await blobs.receive(stream(bytes), 1000)).persist();
    await expect(blobs.read('0'.repeat(32), 1000, sha256(bytes))).rejects.toMatchObject({ problem: 'missing' });
    await expect(blobs.read(name, 999, sha256(bytes))).rejects.toMatchObject({ problem: 'damaged' });
    await expect(blobs.read(name, 1000, sha256('other'))).rejects.toMatchObject({ problem: 'damaged' });
    await (await blobs.read(name, 1000, sha256(bytes))).close();
    await damage(name, Buffer.alloc(1000));
    await expect(blobs.read(name, 1000, sha256(bytes))).rejects.toMatchObject({ problem: 'damaged' });
  });

  it('a removed file is missing, and removing it again changes nothing', async () => {
    const { blobs, contents } = await open();
    const name = await (await blobs.receive(stream(content(10)), 10)).persist();
    await blobs.remove(name);
    await blobs.remove(name);
    expect(await contents()).toEqual([]);
    await expect(blobs.read(name, 10, sha256(content(10)))).rejects.toMatchObject({ problem: 'missing' });
  });

  it('a name that it has not given is never used', async () => {
    const { blobs } = await open();
    await expect(blobs.read('../../etc/passwd', 1, 'x')).rejects.toThrow('not the name of a blob');
    expect(() => blobs.remove('../other')).toThrow('not the name of a blob');
  });

  it('counts the bytes that arrive, so that young objects get no more memory at the same time', async () => {
    const { blobs } = await open();
    const streamed = vi.spyOn(youngGrowth, 'streamed');
    onTestFinished(() => streamed.mockRestore());
    await (await blobs.receive(stream(content(PART + 7)), PART + 7)).discard();
    expect(streamed.mock.calls.reduce((sum, [bytes]) => sum + bytes, 0)).toBe(PART + 7);
  });

  it('counts the bytes of what is stored', async () => {
    const { blobs } = await open();
    expect(await blobs.stored()).toBe(0);
    for (const length of [10, 2000]) await (await blobs.receive(stream(content(length)), length)).persist();
    expect(await blobs.stored()).toBe(2010);
  });

  it('several files arrive at the same time', async () => {
    const { blobs, contents } = await open();
    const lengths = [PART + 7, 100, 2 * PART, 3 * PART + 1, 50_000];
    const names = await Promise.all(
      lengths.map(async (length, i) => (await blobs.receive(stream(content(length), 10_000 + i), length)).persist()),
    );
    expect([...(await contents())].sort()).toEqual([...names].sort());
    for (const [i, name] of names.entries())
      await (await blobs.read(name, lengths[i]!, sha256(content(lengths[i]!)))).close();
  });
}
