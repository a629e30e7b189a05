/** Rules about the cases of persons who have left. */
import { expect } from 'vitest';
import { beginCredential } from '../../../daemon/issuing/credential.ts';
import type { CaseSet } from '../../../daemon/people/case-records.ts';
import * as domain from '../../../daemon/people/decisions.ts';
import { Conflict } from '../../../daemon/store/commit.ts';
import type { Store } from '../../../daemon/store/store.ts';
import { addDevice, addToken, addUser, commit, type Rule, rule, setDevice } from './fixtures.ts';
import { add, leaving } from './person-rules.ts';

const NOON = 1_800_000_000_000;
const window = { descending: false, offset: 0, limit: 10 };
const typesAfter = async (store: Store, after: number) =>
  (await store.events({ after, limit: 99 })).map(({ type }) => type);
const comesBack = async (store: Store, number: number) => domain.comesBack((await store.person(number))!, [])!;
const set = (person: number, before: number, rest: Partial<CaseSet> = {}): CaseSet => ({
  kind: 'case.set',
  person,
  before,
  set: {},
  entries: [{ type: 'CASE_ITEM_KEPT' }],
  ...rest,
});
const kept = [{ kind: 'device', id: 'DEV-1', reason: 'shared', by: 'admin', at: NOON }] as const;

export const caseRules: readonly Rule[] = [
  rule('a case opens with a leave, also with one that waits, and once for each', async ({ store, reopen }) => {
    await commit(store, [add('ada'), add('bob')], { at: NOON });
    await commit(store, [leaving(2, 'bob')], { at: NOON });
    const later = { action: 'lock', delayMs: 1000 } as const;
    await commit(store, [leaving(1, 'ada', { rule: later })], { at: NOON + 1 });
    const blank = { closedAt: null, kept: [], overdue: [], items: null, version: 1 };
    expect(await store.leaverCase(1)).toMatchObject({ number: 1, openedAt: NOON + 1, ...blank });
    const before = (await store.events({ after: 0, limit: 99 })).length;
    await commit(store, [leaving(1, 'ada', { step: 'due', rule: later })], { at: NOON + 1001 });
    await commit(store, [leaving(2, 'bob')], { at: NOON + 1002 });
    expect(await typesAfter(store, before)).not.toContain('CASE_OPENED');
    const again = await reopen();
    expect((await again.leaverCases(true, window)).map(({ number }) => number)).toEqual([2, 1]);
    expect((await again.leaverCases(true, { ...window, descending: true, limit: 1 })).map(one => one.number)).toEqual([
      1,
    ]);
    expect([await again.leaverCaseCount(true), await again.leaverCaseCount(false)]).toEqual([2, 0]);
  }),
  rule('a case is changed in its version only, and not after its end', async ({ store, reopen }) => {
    await commit(store, [add('ada')], { at: NOON });
    await commit(store, [leaving(1, 'ada')], { at: NOON });
    await commit(store, [set(1, 1, { set: { kept } })], { at: NOON });
    await expect(commit(store, [set(1, 1)])).rejects.toThrow(Conflict);
    const items = [{ kind: 'device', id: 'DEV-1', state: 'kept', reason: 'shared' }] as const;
    await commit(store, [set(1, 2, { set: { items }, closes: true })], { at: NOON + 5 });
    await expect(commit(store, [set(1, 3)])).rejects.toThrow(Conflict);
    await expect(commit(store, [set(2, 0)])).rejects.toThrow(Conflict);
    const again = await reopen();
    expect(await again.leaverCase(1)).toMatchObject({ closedAt: NOON + 5, kept, items, version: 3 });
    expect((await again.leaverCases(false, window)).map(({ number }) => number)).toEqual([1]);
  }),
  rule('the standing check counts what persons who have left still have', async ({ store }) => {
    const check = async () => [
      await store.leaverDevices(),
      await store.leaverAccounts(),
      await store.leaverTokens(NOON),
      await store.leaverCredentials(),
      await store.unmatchedActive(),
      await store.scimTokens(NOON),
    ];
    await commit(store, [addUser('ada'), addUser('bob'), addDevice('SN-1'), addDevice('SN-2')], { at: NOON });
    await commit(store, [
      setDevice(1, { status: 'ACTIVE', userId: 'ada' }),
      setDevice(2, { status: 'ACTIVE', userId: 'x' }),
    ]);
    expect(await check()).toEqual([0, 0, 0, 0, 0, 0]);
    await commit(store, [add('ada'), add('bob')], { at: NOON });
    const tokens = [
      addToken('t1', { owner: 1 }),
      addToken('t2', { owner: 1, may: ['scim'] }),
      addToken('t3', { owner: 2 }),
    ];
    await commit(store, tokens);
    await commit(store, [
      beginCredential({ device: 1, provider: 1, account: 'ada', label: 'devmgr 1', begun: null }, null),
    ]);
    const set = {
      kind: 'credential.set',
      credential: 1,
      before: 1,
      set: { credentialId: 'AAAA' },
      entry: null,
    } as const;
    await commit(store, [set]);
    expect(await check()).toEqual([0, 0, 0, 0, 1, 1]);
    // Nothing ends before the delay is over.
    const later = { action: 'lock', delayMs: 1000 } as const;
    await commit(store, [leaving(1, 'ada', { rule: later })], { at: NOON });
    expect(await check()).toEqual([1, 1, 2, 1, 1, 1]);
    await commit(store, [leaving(1, 'ada', { step: 'due', rule: later })], { at: NOON + 1000 });
    expect(await check()).toEqual([0, 0, 0, 1, 1, 0]);
  }),
  rule('a case ends when the person is back, and another leave opens a new one', async ({ store }) => {
    await commit(store, [add('ada')], { at: NOON });
    await commit(store, [leaving(1, 'ada')], { at: NOON });
    await commit(store, [set(1, 1, { set: { kept } })], { at: NOON });
    const before = (await store.events({ after: 0, limit: 99 })).length;
    await commit(store, [await comesBack(store, 1)], { at: NOON });
    expect(await store.leaverCase(1)).toMatchObject({ closedAt: NOON, kept, items: null, version: 3 });
    await commit(store, [leaving(1, 'ada')], { at: NOON });
    expect(await store.leaverCase(1)).toMatchObject({ closedAt: null, kept: [], version: 4 });
    expect(await typesAfter(store, before)).toEqual(['PERSON_RETURNED', 'CASE_CLOSED', 'PERSON_LEFT', 'CASE_OPENED']);
  }),
];
