/** State that lives for seconds to a day, by the same rules in the memory of a daemon and in a database that several nodes share. */
import { expect, test } from 'vitest';
import { DailyUploads } from '../../daemon/files/daily-uploads.ts';
import { SignedChallenges } from '../../daemon/sign-in/signed-challenges.ts';
import { MemoryCounters } from '../../daemon/store/memory/counters.ts';
import { passkeyBounds } from '../../src/contract/limits.ts';
import { second } from '../support/clock.ts';
import { withBothStores } from '../support/limit-stores.ts';

withBothStores('short-lived state', store => {
  const window = { scope: 's', key: 'a', want: 1, need: 1, most: 10, share: 1, milliseconds: 60 * second };

  test('of a window, no more is granted than is left, a part of it if others share it, and nothing below the need', async () => {
    const { nodes, clock } = await store.state();
    const [{ counters: one }, { counters: two }] = nodes;
    const first = await one.take({ ...window, want: 9, share: 2 });
    expect(first).toMatchObject({ granted: 5, used: 5, left: 60 * second, endsAt: clock.wall() + 60 * second });
    await clock.advance(second);
    expect(await two.take({ ...window, want: 9, need: 6 })).toMatchObject({ granted: 0, used: 5, left: 59 * second });
    expect(await two.take({ ...window, want: 9 })).toMatchObject({ granted: 5, used: 10, endsAt: first.endsAt });
    expect(await one.blockedFor('s', 'a', 10)).toBe(59 * second);
    expect(await one.blockedFor('s', 'a', 11)).toBe(0);
  });

  test('what is given back goes into its own window, never below nothing', async () => {
    const { nodes, clock } = await store.state();
    const [{ counters }] = nodes;
    const first = await counters.take({ ...window, want: 4 });
    await counters.giveBack('s', 'a', 1, first.window);
    expect((await counters.take(window)).used).toBe(4);
    await clock.advance(60 * second);
    await counters.take(window);
    await counters.giveBack('s', 'a', 1, first.window);
    expect((await counters.take(window)).used).toBe(2);
    await counters.giveBack('s', 'a', 5);
    expect((await counters.take(window)).used).toBe(1);
  });

  test('wrong attempts are forgotten some time after the last one', async () => {
    const { nodes, clock } = await store.state();
    const [{ counters }] = nodes;
    const backoff = { free: 2, first: 15 * second, longest: 60 * second, forget: 100 * second };
    const wrong = () => counters.wrong('s', 'a', backoff);
    const blockedFor = () => counters.blockedFor('s', 'a', Number.MAX_SAFE_INTEGER);
    await wrong();
    await clock.advance(99 * second);
    await wrong();
    expect(await blockedFor()).toBe(15 * second);
    expect(await wrong()).toBe(15 * second);
    await clock.advance(100 * second);
    await wrong();
    expect(await blockedFor()).toBe(0);
    expect(await counters.right('s', 'a')).toBe(0);
    await wrong();
    expect(await blockedFor()).toBe(0);
  });

  test('the uploads of a day are shared; what was not stored can be used again', async () => {
    const { nodes, clock } = await store.state();
    const [one, other] = nodes.map(({ counters }) => new DailyUploads({ count: 3, bytes: 1000 }, counters)) as [
      DailyUploads,
      DailyUploads,
    ];
    const first = await one.reserve('1', 5000, 1);
    expect(first.bytes).toBe(1000);
    await expect(other.reserve('1', 10, 1)).rejects.toMatchObject({
      code: 429,
      allowance: { limit: 3, remaining: 2, retryAfter: 86_400 },
    });
    first.end(600);
    await expect(one.reserve('1', 500, 500)).rejects.toMatchObject({ code: 429 });
    (await one.reserve('1', 400, 400)).end(null);
    (await one.reserve('1', 100, 100)).end(100);
    (await one.reserve('1', 100, 100)).end(100);
    await expect(one.reserve('1', 1, 1)).rejects.toMatchObject({ code: 429, allowance: { limit: 3, remaining: 0 } });
    expect((await other.reserve('2', 5000, 1)).bytes).toBe(1000);
    await clock.advance(86_400 * second);
    expect((await other.reserve('1', 5000, 1)).bytes).toBe(1000);
  });

  test('of several answers to a challenge one is the first, for as long as the challenge is valid', async () => {
    const { nodes, clock } = await store.state();
    const [one, two] = nodes.map(({ counters }) => new SignedChallenges(new Uint8Array(32), counters)) as [
      SignedChallenges,
      SignedChallenges,
    ];
    const id = one.create('p', 10);
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => (i % 2 ? one : two).answer('p', id, 9)));
    expect(answers.filter(answer => answer!.isFirst)).toHaveLength(1);
    await clock.advance(passkeyBounds.challengeSeconds * second);
    expect((await two.answer('p', id, 9))!.isFirst).toBe(false);
    expect((await two.answer('p', two.create('p', 10), 9))!.isFirst).toBe(true);
  });

  test('a code ends by the clock, and of several calls one gets it', async () => {
    const { nodes, clock } = await store.state();
    const [{ codes: one }, { codes: two }] = nodes;
    await one.put('early', '{"of":"early"}', 30 * second);
    await clock.advance(29 * second);
    const taken = await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 ? one : two).take('early')));
    expect(taken.filter(session => session !== null)).toEqual(['{"of":"early"}']);
    await two.put('late', '{}', 30 * second);
    await clock.advance(31 * second);
    expect(await one.take('late')).toBeNull();
  });
});

test('memory remembers a bounded number of keys of each scope: beyond that, the oldest are forgotten', () => {
  const counters = new MemoryCounters({ monotonic: () => 0, most: 6 });
  const isFirst = (key: string, scope = 's') =>
    counters.take({ scope, key, want: 1, need: 1, most: 1, share: 1, milliseconds: 1 }).granted > 0;
  expect(['a', 'b', 'c', 'd'].map(key => isFirst(key))).toEqual([true, true, true, true]);
  expect(['a', 'b', 'c', 'd'].map(key => isFirst(key))).toEqual([false, false, false, false]);
  for (let i = 0; i < 20; i++) isFirst(`${i}`, 'other');
  expect(isFirst('a')).toBe(false);
  expect(['e', 'f', 'g', 'a'].map(key => isFirst(key))).toEqual([true, true, true, true]);
});
