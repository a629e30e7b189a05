import { expect, test } from 'vitest';
import { AnsweredChallenges } from '../../daemon/services/sign-in/answered-challenges.ts';
import { passkeyBounds } from '../../src/contract/limits.ts';

test('an answered challenge is remembered for as long as it is valid, and a bounded number of them', async () => {
  let time = 0;
  const answered = new AnsweredChallenges({ now: () => time, most: 3 });
  expect(await answered.isFirst('a')).toBe(true);
  time += passkeyBounds.challengeSeconds * 1000;
  for (const id of ['b', 'c']) expect(await answered.isFirst(id)).toBe(true);
  for (const id of ['a', 'b', 'c']) expect(await answered.isFirst(id)).toBe(false);
  expect(await answered.isFirst('d')).toBe(true);
  for (const id of ['b', 'c', 'd']) expect(await answered.isFirst(id)).toBe(false);
  expect(await answered.isFirst('a')).toBe(true);
});
