import { Readable } from 'node:stream';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Bucket } from '../../daemon/files/s3/bucket.ts';
import { openS3Blobs } from '../../daemon/files/s3/s3-blobs.ts';
import type { S3Target } from '../../daemon/home/object-store-target.ts';
import { encrypted } from '../support/encrypted.ts';
import { type Swift, startSwift, withSwift } from '../support/swift.ts';
import { blobRules, content, pieces } from './blobs.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

withSwift('files in an object store', () => {
  let swift: Swift;
  beforeAll(async () => {
    swift = await startSwift();
  });
  afterAll(() => swift.stop());

  async function contentsOf(target: S3Target): Promise<string[]> {
    const bucket = new Bucket(target);
    const names: string[] = [];
    for await (const objects of bucket.list()) names.push(...objects.map(({ name }) => name));
    for (const { name } of await bucket.unfinished()) names.push(name);
    bucket.close();
    return names;
  }

  const placeAt = async (target: S3Target) => ({
    blobs: await openS3Blobs(target),
    contents: () => contentsOf(target),
    async damage(name: string, content: Buffer) {
      const { endpoint, region, credentials, bucket, prefix } = target;
      const client = new S3Client({ endpoint: endpoint!, region, credentials, forcePathStyle: true });
      await client.send(new PutObjectCommand({ Bucket: bucket, Key: prefix + name, Body: content }));
      client.destroy();
    },
  });

  blobRules(async () => placeAt(await swift.bucket()));

  describe('over HTTPS', () => {
    let proxy: Awaited<ReturnType<typeof encrypted>>;
    beforeAll(async () => {
      proxy = await encrypted(swift.endpoint);
    });
    afterAll(() => proxy?.close());

    blobRules(async () => placeAt({ ...(await swift.bucket()), endpoint: proxy.url }));
  });

  describe('a sweep', () => {
    const receive = async (blobs: Awaited<ReturnType<typeof openS3Blobs>>, length: number) =>
      blobs.receive(Readable.from(pieces(content(length)), { objectMode: false }), length);

    it('removes a file without a record when two sweeps have found it a day old, and no other', async () => {
      const target = await swift.bucket();
      let now = Date.now();
      const notices: string[] = [];
      const blobs = await openS3Blobs(target, { now: () => now, notice: line => void notices.push(line) });
      const recorded = await (await receive(blobs, 10)).persist();
      const orphan = await (await receive(blobs, 20)).persist();
      const known = async (names: readonly string[]) => new Set(names.filter(name => name === recorded));
      await blobs.sweep(known);
      await blobs.sweep(known);
      expect(await contentsOf(target)).toHaveLength(2);
      now += DAY_MS + 60_000;
      await blobs.sweep(known);
      expect(await contentsOf(target)).toHaveLength(2);
      await blobs.sweep(known);
      expect(await contentsOf(target)).toEqual([recorded]);
      expect(orphan).not.toBe(recorded);
      expect(notices).toEqual(['removed 1 file without a record, a day old or more']);
    });

    it('keeps a file whose record came between the two', async () => {
      const target = await swift.bucket();
      const blobs = await openS3Blobs(target, { now: () => Date.now() + DAY_MS + 60_000 });
      const name = await (await receive(blobs, 10)).persist();
      await blobs.sweep(async () => new Set());
      await blobs.sweep(async names => new Set(names));
      await blobs.sweep(async () => new Set());
      expect(await contentsOf(target)).toEqual([name]);
    });

    it('aborts an upload that a process has left unfinished, after a day', async () => {
      const target = await swift.bucket();
      const left = await openS3Blobs(target);
      await receive(left, 9 * 1024 * 1024);
      await expect.poll(() => contentsOf(target)).toHaveLength(1);
      const known = async () => new Set<string>();
      await (await openS3Blobs(target)).sweep(known);
      expect(await contentsOf(target)).toHaveLength(1);
      await (await openS3Blobs(target, { now: () => Date.now() + DAY_MS + 60_000 })).sweep(known);
      expect(await contentsOf(target)).toEqual([]);
    });
  });

  it('a store that goes away fails the upload, and the next one succeeds when it is back', async () => {
    const target = await swift.bucket();
    const blobs = await openS3Blobs(target);
    const bytes = content(40 * 1024 * 1024);
    const halting = Readable.from(
      (async function* () {
        let left = 320;
        for (const piece of pieces(bytes)) {
          if (left-- === 0) await swift.halt();
          yield piece;
        }
      })(),
      { objectMode: false },
    );
    await expect(blobs.receive(halting, bytes.length)).rejects.toThrow(/^the object store failed: /);
    await swift.resume();
    const staged = await blobs.receive(Readable.from(pieces(bytes), { objectMode: false }), bytes.length);
    expect(await blobs.read(await staged.persist(), bytes.length, staged.sha256)).toBeDefined();
  });
});
