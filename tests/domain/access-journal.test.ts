import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Access, AccessJournal } from '../../daemon/requests/access-journal.ts';
import type { Commit } from '../../daemon/store/commit.ts';

let now = 0;
let commits: Commit[];
let journal: AccessJournal;
let fail: boolean;
const warnings: string[] = [];
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  now = 1_700_000_000_000;
  commits = [];
  fail = false;
  const commit = async (one: Commit) => {
    if (fail) throw new Error('disk full');
    commits.push(one);
    return [];
  };
  journal = new AccessJournal({ store: { commit }, now: () => now, warn: message => void warnings.push(message) });
});
afterEach(() => vi.useRealTimers());

const failed = (rest: Partial<Access> = {}): Access => ({
  type: 'LOGIN_FAILED',
  account: 'admin',
  address: '192.0.2.1',
  requestId: 'r',
  ...rest,
});
const entries = (): Record<string, unknown>[] =>
  commits.map(({ actor, requestId, changes: [change] }) => {
    const { type, detail } = (change as { entry: { type: string; detail: Record<string, unknown> } }).entry;
    return { type, actor, requestId, ...detail };
  });
const total = () => entries().reduce((sum, { count }) => sum + Number(count), 0);

it('counts what one account does from one address within a minute, and writes it then', async () => {
  for (let i = 0; i < 1000; i++) {
    now += 10;
    journal.record(failed({ requestId: `r-${i}` }));
  }
  expect(commits).toEqual([]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(entries()).toEqual([
    {
      type: 'LOGIN_FAILED',
      actor: 'admin',
      requestId: 'r-999',
      address: '192.0.2.1',
      count: 1000,
      first: '2023-11-14T22:13:20.010Z',
      last: '2023-11-14T22:13:30.000Z',
    },
  ]);
  await vi.advanceTimersByTimeAsync(600_000);
  expect(commits).toHaveLength(1);
});

it('keeps accounts, addresses, types, devices and reasons apart, but not the addresses of one IPv6 network', async () => {
  const kinds: Access[] = [
    failed(),
    failed({ account: 'bob' }),
    failed({ account: null }),
    failed({ address: '192.0.2.2' }),
    failed({ type: 'LOGIN_SUCCEEDED' }),
    failed({ detail: { reason: 'disabled account' } }),
    { ...failed({ type: 'ACTIVATION_CODE_WRONG' }), device: 1 },
    { ...failed({ type: 'ACTIVATION_CODE_WRONG' }), device: 2 },
    failed({ address: '2001:db8::1' }),
  ];
  for (const access of [...kinds, ...kinds]) journal.record(access);
  journal.record(failed({ address: '2001:db8::ffff' }));
  await journal.flush();
  expect(entries().map(({ count }) => count)).toEqual([2, 2, 2, 2, 2, 2, 2, 2, 3]);
  expect(entries().at(-1)).toMatchObject({ address: '2001:db8::ffff' });
});

it('lists 20 failed logins a minute and 200 of what needs a login, and sums the others in one entry', async () => {
  for (let i = 0; i < 5000; i++) journal.record(failed({ address: `10.0.${i >> 8}.${i & 255}` }));
  for (let i = 0; i < 5000; i++) journal.record(failed({ type: 'PACKAGE_DOWNLOADED', account: `user-${i}` }));
  await journal.flush();
  expect(total()).toBe(10_000);
  expect(commits).toHaveLength(21 + 201);
  expect(entries().filter(({ summed }) => summed)).toMatchObject([
    { type: 'LOGIN_FAILED', actor: null, requestId: null, count: 4980 },
    { type: 'PACKAGE_DOWNLOADED', actor: null, count: 4800 },
  ]);
  commits = [];
  journal.record(failed());
  await journal.flush();
  expect(entries()).toMatchObject([{ actor: 'admin', count: 1 }]);
});

it('loses nothing if entries cannot be written: they are counted again, within the same bounds', async () => {
  fail = true;
  for (let i = 0; i < 30; i++) journal.record(failed({ address: `10.0.0.${i}` }));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(warnings).toEqual([expect.stringMatching(/^21 entries .* could not be written/)]);
  for (let i = 0; i < 30; i++) journal.record(failed({ address: `10.0.1.${i}` }));
  fail = false;
  await vi.advanceTimersByTimeAsync(60_000);
  expect([commits.length, total()]).toEqual([21, 60]);
});

it('writes everything at the stop', async () => {
  journal.record(failed());
  const stopped = journal.stop();
  await stopped;
  expect(total()).toBe(1);
});
