/** Delays of leavers. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { create } from '../../daemon/people/decisions.ts';
import { Leavers } from '../../daemon/people/leavers.ts';
import { PeoplePolicies } from '../../daemon/people/policies.ts';
import { dueLeavers } from '../../daemon/people/work.ts';
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
