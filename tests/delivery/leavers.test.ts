/** Delays of leavers. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Cases } from '../../daemon/people/cases.ts';
import { create } from '../../daemon/people/decisions.ts';
import { Leavers } from '../../daemon/people/leavers.ts';
import { PeoplePolicies } from '../../daemon/people/policies.ts';
import { StandingCheck } from '../../daemon/people/standing-check.ts';
import { dueLeavers, overdueItems } from '../../daemon/people/work.ts';
import { addDevice, commit, setDevice } from '../contract/store/fixtures.ts';
import { openTemporary } from '../support/sqlite.ts';

const NOON = 1_800_000_000_000;
const HOUR = 3_600_000;
const turn = new AbortController().signal;
let opened: Awaited<ReturnType<typeof openTemporary>>;
beforeEach(async () => {
  opened = await openTemporary();
});
afterEach(() => opened.cleanup());

it('locks the devices when the delay is over, also by a daemon that was started in between', async () => {
  const details = { name: null, names: null, email: null, externalId: null, groups: [], source: 'scim' } as const;
  await commit(opened.store, [create({ userName: 'ada', ...details }), addDevice('SN-1')]);
  await commit(opened.store, [setDevice(1, { status: 'ACTIVE', userId: 'ada' })]);
  const [change] = await new Leavers({
    store: opened.store,
    policies: new PeoplePolicies({ store: opened.store, now: () => NOON }),
  }).changes([(await opened.store.person(1))!], { step: 'leave', reason: 'left (scim)' });
  await commit(opened.store, [{ ...change!, rule: { action: 'lock', delayMs: HOUR } }], { at: NOON });
  const store = await opened.reopen();
  let now = NOON + HOUR - 1;
  const leavers = new Leavers({ store, policies: new PeoplePolicies({ store, now: () => now }) });
  const due = dueLeavers({ store, leavers, now: () => now });
  await due.look(turn);
  expect((await store.device(1))?.status).toBe('ACTIVE');
  now++;
  await due.look(turn);
  expect(await store.device(1)).toMatchObject({ status: 'LOCKED', lockReason: 'left (scim)', lockedAt: now });
  expect((await store.person(1))?.dueAt).toBeNull();
});

it('announces what is still open a day after a leave, once, and nothing while a delay runs', async () => {
  const details = { name: null, names: null, email: null, externalId: null, groups: [], source: 'scim' } as const;
  const { store } = opened;
  const names = ['ada', 'bob', 'carl'];
  await commit(
    store,
    names.map(userName => create({ userName, ...details })),
  );
  await commit(
    store,
    names.map((_, i) => addDevice(`SN-${i}`)),
  );
  await commit(
    store,
    names.map((userId, i) => setDevice(i + 1, { status: 'ACTIVE', userId })),
  );
  let now = NOON;
  const leavers = new Leavers({ store, policies: new PeoplePolicies({ store, now: () => now }) });
  for (const number of [1, 2, 3]) {
    const [change] = await leavers.changes([(await store.person(number))!], { step: 'leave', reason: 'left (scim)' });
    const delayMs = number === 3 ? 90 * HOUR : 0;
    await commit(store, [{ ...change!, rule: { action: 'lock', delayMs } }], { at: NOON });
  }
  // The key of bob was unlocked again.
  await commit(store, [setDevice(2, { status: 'ACTIVE' })]);
  const cases = new Cases({ store, now: () => now });
  const check = new StandingCheck({ store, log: { warn() {} }, now: () => now });
  const work = overdueItems({ store, cases, check, now: () => now });
  const announced = async () =>
    (await store.events({ after: 0, limit: 99, types: ['CASE_OVERDUE'] })).map(one => one.data);
  now = NOON + 24 * HOUR - 1;
  await work.look(turn);
  expect(await announced()).toEqual([]);
  now++;
  const late = { personId: 'PER-2', source: 'scim', kind: 'device', itemId: 'DEV-2' };
  for (let i = 0; i < 2; i++) await work.look(turn);
  expect(await announced()).toEqual([late]);
  expect(await store.leaverCase(2)).toMatchObject({ overdue: ['device DEV-2'] });
  // The check is announced when a figure has changed: ada has nothing, bob and carl have a key each.
  const checked = async () =>
    (await store.events({ after: 0, limit: 99, types: ['PEOPLE_CHECKED'] })).map(({ data }) => data.devices);
  expect(await checked()).toEqual([2]);
  await commit(store, [setDevice(2, { status: 'LOCKED' })]);
  for (let i = 0; i < 2; i++) await work.look(turn);
  expect(await checked()).toEqual([2, 1]);
});
