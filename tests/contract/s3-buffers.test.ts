/** The memory of uploads to an object store: what is used again, and what is returned. */
import { expect, test } from 'vitest';
import { PART_BYTES, PartBuffers } from '../../daemon/files/s3/buffers.ts';

const { signal } = new AbortController();

test('a buffer is used again while another one is in use', async () => {
  const buffers = new PartBuffers();
  const [one, two] = [await buffers.take(signal), await buffers.take(signal)];
  buffers.giveBack(one);
  expect([one.length, two.length]).toEqual([PART_BYTES, PART_BYTES]);
  expect(await buffers.take(signal)).toBe(one);
});

test('memory is returned when no buffer is in use, and taken again for the next part', async () => {
  const buffers = new PartBuffers();
  const [one, two] = [await buffers.take(signal), await buffers.take(signal)];
  one.fill(1);
  for (const buffer of [one, two]) buffers.giveBack(buffer);
  expect([one, two].map(({ buffer, length }) => [buffer.byteLength, length])).toEqual([
    [0, 0],
    [0, 0],
  ]);
  const next = await buffers.take(signal);
  expect([next.length, next.every(byte => byte === 0)]).toEqual([PART_BYTES, true]);
  next.fill(2);
  expect(next.subarray(0, 3)).toEqual(Buffer.from([2, 2, 2]));
});

test('the memory of a third buffer is returned while others are in use', async () => {
  const buffers = new PartBuffers();
  const taken = await Promise.all(Array.from({ length: 4 }, () => buffers.take(signal)));
  for (const buffer of taken.slice(0, 3)) buffers.giveBack(buffer);
  expect(taken.map(({ length }) => length)).toEqual([PART_BYTES, PART_BYTES, 0, PART_BYTES]);
});

test('if all are in use, the next upload waits for one, and leaves when it ends', async () => {
  const buffers = new PartBuffers(1);
  const one = await buffers.take(signal);
  const ended = new AbortController();
  const left = buffers.take(ended.signal);
  const next = buffers.take(signal);
  ended.abort(new Error('the upload has ended'));
  await expect(left).rejects.toThrow('the upload has ended');
  buffers.giveBack(one);
  expect(await next).toBe(one);
  expect(one.length).toBe(PART_BYTES);
});
