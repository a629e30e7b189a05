/** The digest that the console computes while it sends or receives a file. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { beginDigest, digestOf } from '../../console/pages/files/digest.ts';

/** Takes every machine longer than a slice. */
const large = new Uint8Array(64 * 1024 * 1024).fill(7);
const expected = createHash('sha256').update(large).digest('hex');

test('is that of the file, and shows how much it has read', async () => {
  const read: number[] = [];
  const digest = await digestOf(new Blob([large]), bytes => read.push(bytes), new AbortController().signal);
  expect(digest).toBe(expected);
  expect(read.at(-1)).toBe(large.length);
});

test('lets other tasks run while one large piece is added', async () => {
  let hasRun = false;
  setTimeout(() => {
    hasRun = true;
  });
  const digest = beginDigest();
  await digest.add(large);
  expect(hasRun).toBe(true);
  expect(digest.hex()).toBe(expected);
});

test('ends when it is aborted', async () => {
  const abort = new AbortController();
  const reading = digestOf(new Blob([large, large]), () => abort.abort(), abort.signal);
  await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
});
