import { expect, test } from 'vitest';
import { KnownDigests } from '../../daemon/files/known-digests.ts';

test('a file is read once per state, also if several ask at the same time', async () => {
  const digests = new KnownDigests();
  let reads = 0;
  const read = async () => `digest ${++reads}`;
  const of = (state: string) => digests.of('file', state, read);
  expect(await Promise.all([of('a'), of('a'), of('a')])).toEqual(['digest 1', 'digest 1', 'digest 1']);
  expect(await of('b')).toBe('digest 2');
  expect(await of('b')).toBe('digest 2');
});

test('a read that fails is not remembered', async () => {
  const digests = new KnownDigests();
  await expect(digests.of('file', 'a', () => Promise.reject(new Error('EIO')))).rejects.toThrow('EIO');
  expect(await digests.of('file', 'a', async () => 'digest')).toBe('digest');
});
