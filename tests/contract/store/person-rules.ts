/** Rules about persons: how they are found, what their entries show, and what happens to the devices of those who leave. */

import { expect } from 'vitest';
import { hashOf } from '../../../daemon/accounts/user.ts';
import * as domain from '../../../daemon/people/decisions.ts';
import type { PersonDetails, PersonLeave } from '../../../daemon/people/records.ts';
import { type Change, Conflict } from '../../../daemon/store/commit.ts';
import type { Store } from '../../../daemon/store/store.ts';
import { addBound, addDevice, addUser, commit, queryOf, type Rule, rule, setDevice } from './fixtures.ts';

const NOON = 1_800_000_000_000;
const MINUTE = 60_000;

export const add = (userName: string, rest: Partial<PersonDetails> = {}): Change =>
  domain.create({
    userName,
    name: null,
    names: null,
    email: null,
    externalId: null,
    groups: [],
    source: 'local',
    ...rest,
  });

const activate = (device: number, userId: string): Change => setDevice(device, { status: 'ACTIVE', userId });

export const leaving = (person: number, userName: string, rest: Partial<PersonLeave> = {}): Change => ({
  kind: 'person.leave',
  step: 'leave',
  person,
  userName,
  reason: 'left (scim)',
  endedBy: 'source',
  rule: { action: 'lock', delayMs: 0 },
  activeDevices: 1000,
  isRemoved: false,
  ...rest,
});

const left = (locked: number[], rest: object = {}) =>
  expect.objectContaining({ kind: 'left', locked, held: [], dueAt: null, ...rest });
const page = { descending: false, offset: 0, limit: 10 };
const found = async (store: Store, filter: object) =>
  (await store.people({ ...page, ...filter })).rows.map(({ userName }) => userName);
const typesAfter = async (store: Store, after: number) =>
  (await store.events({ after, limit: 99 })).map(({ type }) => type);

/** Registers devices and binds each to the user name beside it. */
async function bind(store: Store, ...owners: string[]): Promise<void> {
  const first = (await store.devices(queryOf({ limit: 1 }))).total + 1;
  await commit(
    store,
    owners.map((_, i) => addDevice(`SN-${first + i}`)),
  );
  await commit(
    store,
    owners.map((userId, i) => activate(first + i, userId)),
  );
}

export const personRules: readonly Rule[] = [
  rule('a person is found by number and name, also after a restart', async ({ store, reopen }) => {
    const details = {
      name: 'Ada',
      names: { givenName: 'Ada' },
      email: 'ada@example.com',
      externalId: 'x',
      groups: [1, 4],
    };
    expect(await commit(store, [add('Ada.L', details)], { at: NOON })).toEqual([{ kind: 'added', number: 1 }]);
    const read = async (reader: Store) => {
      const person = await reader.person(1);
      expect(person).toMatchObject({ ...details, userName: 'Ada.L', active: true, version: 1, createdAt: NOON });
      expect(await reader.personByName('ada.l')).toEqual(person);
      expect([await reader.person(2), await reader.personByName('bob')]).toEqual([null, null]);
    };
    await read(store);
    await read(await reopen());
  }),

  rule('a user name is given once, in upper or lower case', async ({ store }) => {
    await commit(store, [add('ada')]);
    expect(await commit(store, [add('ADA')])).toEqual([{ kind: 'duplicate', number: 1, status: null }]);
    await commit(store, [add('bob')]);
    const bob = (await store.person(2))!;
    await expect(commit(store, [domain.edit(bob, { userName: 'Ada' })!])).rejects.toThrow(Conflict);
    await commit(store, [domain.edit(bob, { userName: 'Bob' })!]);
    expect(await store.personByName('bob')).toMatchObject({ userName: 'Bob', version: 2 });
  }),

  rule('persons are listed by keyword, source, state and group', async ({ store }) => {
    await commit(store, [
      add('ada', { name: 'Ada Lovelace', email: 'countess@example.com', groups: [2] }),
      add('bob', { source: 'scim', externalId: 'ext-ö', groups: [1, 2] }),
      add('carl_%', { groups: [12] }),
    ]);
    await commit(store, [leaving(3, 'carl_%', { isRemoved: true })]);
    const cases: readonly [object, readonly string[]][] = [
      [{ keyword: 'LOVE' }, ['ada']],
      [{ keyword: 'countess' }, ['ada']],
      [{ keyword: 'countess', withEmail: false }, []],
      [{ keyword: 'love', withEmail: false }, ['ada']],
      [{ keyword: 'EXT-Ö' }, ['bob']],
      [{ keyword: 'per-2' }, ['bob']],
      [{ keyword: '_%' }, ['carl_%']],
      [{ source: 'scim' }, ['bob']],
      [{ active: false }, ['carl_%']],
      [{ active: true }, ['ada', 'bob']],
      [{ group: 2 }, ['ada', 'bob']],
      [{ group: 1 }, ['bob']],
      [{ group: 2, after: 1 }, ['bob']],
      [{ group: 2, after: 2 }, []],
      [{ group: 2, keyword: 'ada', source: 'local' }, ['ada']],
      [{ externalId: 'ext-ö' }, ['bob']],
      [{ isPresent: true }, ['ada', 'bob']],
      [{ after: 1 }, ['bob', 'carl_%']],
      [{ isHeld: true }, []],
    ];
    for (const [filter, names] of cases) expect(await found(store, filter), JSON.stringify(filter)).toEqual(names);
    const bob = (await store.person(2))!;
    await commit(store, [domain.edit(bob, { groups: [3] })!]);
    expect([await found(store, { group: 2 }), await found(store, { group: 3 })]).toEqual([['ada'], ['bob']]);
    expect(await store.people({ ...page, descending: true, limit: 1, offset: 1 })).toMatchObject({
      total: 3,
      rows: [{ userName: 'bob' }],
    });
  }),

  rule('persons are found by the number of their ACTIVE devices', async ({ store }) => {
    await commit(store, [add('ada'), add('bob'), add('carl')]);
    await bind(store, 'bob', 'carl', 'carl');
    await commit(store, [setDevice(2, { status: 'LOCKED' })]);
    const having = (activeDevices: number) => found(store, { activeDevices });
    expect([await having(0), await having(1), await having(2)]).toEqual([['ada'], ['bob', 'carl'], []]);
    expect(await store.people({ ...page, activeDevices: 1, limit: 1 })).toMatchObject({ total: 2 });
  }),

  rule('a change holds from the version that was read', async ({ store }) => {
    await commit(store, [add('ada')]);
    const ada = (await store.person(1))!;
    await commit(store, [domain.edit(ada, { name: 'Ada' })!]);
    await expect(commit(store, [domain.edit(ada, { name: 'Eve' })!])).rejects.toThrow(Conflict);
    expect((await store.person(1))?.name).toBe('Ada');
  }),

  rule('no entry about a person has a name or an e-mail address', async ({ store }) => {
    const details = {
      name: 'Ada Lovelace',
      email: 'ada@example.com',
      externalId: 'external',
      names: { givenName: 'Augusta' },
    };
    await commit(store, [add('ada.user', details)]);
    await commit(store, [domain.edit((await store.person(1))!, { name: 'Countess', email: 'c@example.com' })!]);
    await commit(store, [leaving(1, 'ada.user')]);
    await commit(store, [domain.comesBack((await store.person(1))!, [])!]);
    const entries = await store.events({ after: 0, limit: 9 });
    expect(entries).toHaveLength(6);
    expect(entries.every(({ subject }) => subject === 1)).toBe(true);
    expect(JSON.stringify(entries)).not.toMatch(/ada\.user|lovelace|example\.com|external"|augusta|countess/i);
  }),

  rule('all ACTIVE devices of a leaver are locked, and no others', async ({ store }) => {
    await commit(store, [add('ada'), addUser('ada'), addUser('root', { role: 'ADMIN' })]);
    await bind(store, 'ada', 'bob', 'ada');
    const before = await store.lastEventId();
    expect(await commit(store, [leaving(1, 'ada')], { at: NOON })).toEqual([left([1, 3])]);
    const locked = { status: 'LOCKED', lockReason: 'left (scim)', lockedAt: NOON };
    expect(await Promise.all([1, 2, 3].map(number => store.device(number)))).toMatchObject([
      locked,
      { status: 'ACTIVE' },
      locked,
    ]);
    expect(await store.person(1)).toMatchObject({ active: false, leftAt: NOON, reason: 'left (scim)' });
    expect(await store.userByName('ada')).toMatchObject({ disabled: true, tokenEpoch: 1 });
    expect((await typesAfter(store, before)).filter(type => type !== 'USER_UPDATED')).toEqual([
      'DEVICE_LOCKED',
      'DEVICE_LOCKED',
      'PERSON_LEFT',
      'CASE_OPENED',
    ]);
    const end = await store.lastEventId();
    expect(await commit(store, [leaving(1, 'ada')])).toEqual([left([])]);
    expect(await store.lastEventId()).toBe(end);
  }),

  rule('a device that is activated in the same transaction is locked too', async ({ store }) => {
    await commit(store, [add('ada'), addDevice('SN-1')]);
    const [, result] = await Promise.all([commit(store, [activate(1, 'ada')]), commit(store, [leaving(1, 'ada')])]);
    expect(result).toEqual([left([1])]);
  }),

  rule('a new device that is bound at once is one of the person, and ends with the person', async ({ store }) => {
    await commit(store, [add('ada'), add('bob')]);
    const [, result] = await Promise.all([
      commit(store, [addBound('SN-1', 'ADA'), addBound('SN-2', 'carol'), addBound('SN-3', 'bob')]),
      commit(store, [leaving(1, 'ada')]),
    ]);
    expect(result).toEqual([left([1])]);
    expect([(await store.device(1))?.person, (await store.device(2))?.person]).toEqual([1, null]);
    expect(await store.device(3)).toMatchObject({ userId: 'bob', person: 2, status: 'ACTIVE', version: 2 });
    await commit(store, [add('carol')]);
    expect(await store.device(2)).toMatchObject({ person: 3 });
    const guards = [{ kind: 'owner', userId: 'Ada', isRequired: false }] as const;
    await expect(commit(store, [addBound('SN-4', 'Ada')], { guards })).rejects.toThrow(Conflict);
  }),

  rule(
    'persons are found by the keys of their names, a removed one only if no other has the name',
    async ({ store }) => {
      await commit(store, [add('ada'), add('bob')]);
      await commit(store, [leaving(1, 'ada', { isRemoved: true }), leaving(2, 'bob', { isRemoved: true })]);
      await commit(store, [add('Ada')]);
      const found = await store.personsByKey(['ada', 'bob', 'carol']);
      expect([...found].map(([key, { number }]) => [key, number]).sort()).toEqual([
        ['ada', 3],
        ['bob', 2],
      ]);
    },
  ),

  rule('a device is not bound to a person who has left', async ({ store }) => {
    await commit(store, [add('ada'), addDevice('SN-1')]);
    await commit(store, [leaving(1, 'ada')]);
    const guards = (userId: string, isRequired = false) => [{ kind: 'owner', userId, isRequired }] as const;
    for (const userId of ['ada', 'ADA'])
      await expect(commit(store, [activate(1, userId)], { guards: guards(userId) })).rejects.toThrow(Conflict);
    await expect(commit(store, [activate(1, 'bob')], { guards: guards('bob', true) })).rejects.toThrow(Conflict);
    await commit(store, [activate(1, 'bob')], { guards: guards('bob') });
  }),

  rule('a commit can require that a person has not left, by number or by name', async ({ store }) => {
    await commit(store, [add('ada'), add('bob'), addDevice('SN-1')]);
    await commit(store, [leaving(1, 'ada')]);
    const write = (person: number | null, userId: string) =>
      commit(store, [setDevice(1, { note: userId })], { guards: [{ kind: 'present', person, userId }] });
    for (const named of [write(1, 'ada'), write(null, 'ADA'), write(1, 'bob')])
      await expect(named).rejects.toThrow(Conflict);
    await write(2, 'ada');
    await write(null, 'bob');
    await write(null, 'unknown');
  }),

  rule('the last administrator stays enabled', async ({ store }) => {
    await commit(store, [add('root'), addUser('root', { role: 'ADMIN' })]);
    await commit(store, [leaving(1, 'root')]);
    expect(await store.userByName('root')).toMatchObject({ disabled: false });
  }),

  rule('the policy can retire devices', async ({ store }) => {
    await commit(store, [add('ada')]);
    await bind(store, 'ada');
    await commit(store, [leaving(1, 'ada', { rule: { action: 'retire', delayMs: 0 } })]);
    expect(await store.device(1)).toMatchObject({ status: 'DEACTIVATED' });
  }),

  rule('a delay is kept, and a repeated request does not prolong it', async ({ store, reopen }) => {
    await commit(store, [add('ada')]);
    await bind(store, 'ada');
    const rule = { action: 'lock', delayMs: MINUTE } as const;
    expect(await commit(store, [leaving(1, 'ada', { rule })], { at: NOON })).toEqual([
      left([], { dueAt: NOON + MINUTE }),
    ]);
    await commit(store, [leaving(1, 'ada', { rule })], { at: NOON + 9 });
    const again = await reopen();
    expect(await found(again, { dueBy: NOON + MINUTE - 1 })).toEqual([]);
    expect(await found(again, { dueBy: NOON + MINUTE })).toEqual(['ada']);
    const due = leaving(1, 'ada', { step: 'due' });
    expect(await commit(again, [due], { at: NOON + MINUTE })).toEqual([left([1])]);
    expect(await commit(again, [due])).toEqual([left([])]);
  }),

  rule('a person who comes back ends the delay, and nothing is unlocked', async ({ store }) => {
    await commit(store, [add('ada')]);
    await bind(store, 'ada');
    await commit(store, [leaving(1, 'ada', { rule: { action: 'lock', delayMs: MINUTE } })], { at: NOON });
    await commit(store, [domain.comesBack((await store.person(1))!, [])!]);
    expect(await commit(store, [leaving(1, 'ada', { step: 'due' })])).toEqual([left([])]);
    await commit(store, [leaving(1, 'ada')]);
    await commit(store, [domain.comesBack((await store.person(1))!, [1])!]);
    expect((await store.device(1))?.status).toBe('LOCKED');
    const [, entry] = await store.events({ after: 0, before: Number.POSITIVE_INFINITY, limit: 2 });
    expect(entry).toMatchObject({ type: 'PERSON_RETURNED', data: { personId: 'PER-1', lockedDevices: ['DEV-1'] } });
  }),

  rule(
    'the brake holds leavers above 5 % and 10 devices within 10 minutes until they are released',
    async ({ store }) => {
      const names = Array.from({ length: 11 }, (_, i) => `p${i}`);
      await commit(
        store,
        names.map(name => add(name)),
      );
      await bind(store, ...names);
      const leaveAt = async (i: number, at: number, activeDevices: number) =>
        (await commit(store, [leaving(i + 1, `p${i}`, { activeDevices })], { at }))[0];
      for (let i = 0; i < 9; i++) expect(await leaveAt(i, NOON + i, 100 - i)).toMatchObject({ locked: [i + 1] });
      const before = await store.lastEventId();
      expect(await leaveAt(9, NOON + MINUTE, 91)).toEqual(left([], { held: [10] }));
      expect(await leaveAt(9, NOON + 2 * MINUTE, 91)).toEqual(left([], { held: [10] }));
      expect(await typesAfter(store, before)).toEqual(['PERSON_HELD', 'CASE_OPENED']);
      expect([(await store.device(10))?.status, await found(store, { isHeld: true })]).toEqual(['ACTIVE', ['p9']]);
      // Ten minutes later the others no longer count.
      expect(await leaveAt(10, NOON + 12 * MINUTE, 91)).toMatchObject({ locked: [11] });
      const release = leaving(10, 'p9', { step: 'release' });
      expect(await commit(store, [release])).toEqual([left([10])]);
      expect([(await store.device(10))?.lockReason, await found(store, { isHeld: true })]).toEqual(['left (scim)', []]);
      expect(await commit(store, [release])).toEqual([left([])]);
    },
  ),

  rule('while the brake holds, the account of a leaver without devices stays enabled, too', async ({ store }) => {
    await commit(store, [add('ada'), add('eve'), add('carl'), addUser('eve'), addUser('root', { role: 'ADMIN' })]);
    await bind(store, ...Array.from({ length: 10 }, () => 'ada'));
    for (const [i, name] of ['ada', 'eve', 'carl'].entries())
      await commit(store, [leaving(i + 1, name, { activeDevices: 100 })], { at: NOON });
    expect(await found(store, { isHeld: true })).toEqual(['ada', 'eve']);
    expect(await store.userByName('eve')).toMatchObject({ disabled: false });
    await commit(store, [leaving(2, 'eve', { step: 'release' })]);
    expect(await store.userByName('eve')).toMatchObject({ disabled: true });
  }),

  rule('the brake holds leavers above 5 % and 10 accounts, also without devices', async ({ store }) => {
    const names = Array.from({ length: 12 }, (_, i) => `p${i}`);
    const admin = addUser('root', { role: 'ADMIN' });
    await commit(store, [...names.map(name => add(name)), ...names.map(name => addUser(name)), admin]);
    const held = async (accounts: number, i: number) =>
      (await commit(store, [leaving(i + 1, `p${i}`, { accounts })], { at: NOON + i })) &&
      found(store, { isHeld: true });
    for (let i = 0; i < 9; i++) expect(await held(100, i)).toEqual([]);
    expect(await held(100, 9)).toEqual(['p9']);
    expect(await store.userByName('p9')).toMatchObject({ disabled: false });
    // 11 of 1,000 are not 5 %.
    expect(await held(1000, 10)).toEqual(['p9']);
    await commit(store, [leaving(10, 'p9', { step: 'release' })], { at: NOON + MINUTE });
    expect(await store.userByName('p9')).toMatchObject({ disabled: true });
  }),

  rule(
    'the brake holds new user names above 5 % and 10 devices and accounts until they are given',
    async ({ store }) => {
      const names = Array.from({ length: 12 }, (_, i) => `p${i}`);
      await commit(store, [...names.map(name => add(name)), addUser('p8'), addUser('root', { role: 'ADMIN' })]);
      await bind(store, ...names);
      const rename = async (i: number, userName: string, at: number) => {
        const change = domain.edit((await store.person(i + 1))!, { userName, name: `Name ${i}` });
        const brake = { activeDevices: 98, accounts: 2 };
        return change && (await commit(store, [{ ...change, brake }], { at }))[0]!.kind;
      };
      // The ninth has a device and an account.
      for (let i = 0; i < 8; i++) expect(await rename(i, `new${i}`, NOON)).toBe('done');
      expect(await rename(8, 'new8', NOON)).toBe('held');
      expect(await rename(9, 'new9', NOON)).toBe('held');
      expect(await store.person(9)).toMatchObject({
        userName: 'p8',
        name: 'Name 8',
        pendingName: 'new8',
        heldAt: NOON,
      });
      expect(await store.device(9)).toMatchObject({ userId: 'p8', status: 'ACTIVE' });
      expect(await store.userByName('p8')).toMatchObject({ disabled: false });
      expect(await found(store, { isHeld: true })).toEqual(['p8', 'p9']);
      // The source sends the name again, and takes another one back.
      expect(await rename(8, 'new8', NOON + MINUTE)).toBeNull();
      expect(await rename(9, 'p9', NOON + MINUTE)).toBe('done');
      expect(await store.person(10)).toMatchObject({ userName: 'p9', pendingName: null, heldAt: null });
      await commit(store, [domain.givePendingName((await store.person(9))!)!], { at: NOON + MINUTE });
      expect(await store.person(9)).toMatchObject({ userName: 'new8', pendingName: null, heldAt: null });
      expect(await store.device(9)).toMatchObject({ userId: 'new8' });
      expect(await store.userByName('p8')).toMatchObject({ disabled: true });
      // Names do not hold leavers, and a leaver waits for no name.
      expect(await rename(10, 'new10', NOON + MINUTE)).toBe('held');
      expect(await commit(store, [leaving(11, 'p10')], { at: NOON + MINUTE })).toEqual([left([11])]);
      expect(await store.person(11)).toMatchObject({ active: false, pendingName: null, heldAt: null });
      // Ten minutes later the others no longer count.
      expect(await rename(11, 'new11', NOON + 13 * MINUTE)).toBe('done');
    },
  ),

  rule('a leaver counts for the whole of ten minutes', async ({ store }) => {
    await commit(store, [add('ada'), add('bob')]);
    await bind(store, ...Array.from({ length: 9 }, () => 'ada'), 'bob');
    const at = NOON + 9999;
    await commit(store, [leaving(1, 'ada', { activeDevices: 100 })], { at });
    const late = await commit(store, [leaving(2, 'bob', { activeDevices: 91 })], { at: at + 10 * MINUTE - 1 });
    expect(late).toMatchObject([{ held: [10] }]);
  }),

  rule('ten devices of many are not held', async ({ store }) => {
    await commit(store, [add('ada')]);
    await bind(store, ...Array.from({ length: 10 }, () => 'ada'));
    expect(await commit(store, [leaving(1, 'ada', { activeDevices: 200 })])).toMatchObject([{ held: [] }]);
  }),

  rule('devices follow a new user name', async ({ store }) => {
    await commit(store, [add('ada')]);
    await bind(store, 'ada', 'bob');
    await commit(store, [domain.edit((await store.person(1))!, { userName: 'ada.l' })!], { at: NOON });
    expect(await store.device(1)).toMatchObject({ userId: 'ada.l', updatedAt: NOON });
    expect(await store.device(2)).toMatchObject({ userId: 'bob' });
    expect(await commit(store, [leaving(1, 'ada.l')])).toEqual([left([1])]);
    await expect(commit(store, [leaving(1, 'ada')])).rejects.toThrow(Conflict);
  }),

  rule('a rename takes no device of anyone else, and can be undone', async ({ store }) => {
    await commit(store, [add('mallory')]);
    await bind(store, 'carol', 'mallory');
    const rename = async (userName: string) =>
      commit(store, [domain.edit((await store.person(1))!, { userName })!]).catch(error => error);
    for (const taken of ['carol', 'CAROL']) expect(await rename(taken)).toBeInstanceOf(Conflict);
    await rename('mallory.2');
    await rename('mallory');
    expect(await store.device(1)).toMatchObject({ userId: 'carol', person: null });
    expect(await store.device(2)).toMatchObject({ userId: 'mallory', person: 1 });
    expect(await commit(store, [leaving(1, 'mallory')])).toEqual([left([2])]);
  }),

  rule('names are equal in upper and lower case, composed or not', async ({ store }) => {
    await commit(store, [add('near.one'), addUser('Near.One'), addUser('root', { role: 'ADMIN' }), add('zoë')]);
    await bind(store, 'Near.One', 'NEAR.ONE', 'near.öne', 'zoe\u0308', 'Zoe\u0308');
    const persons = [1, 1, null, 2, 2];
    for (const [i, person] of persons.entries()) expect(await store.device(i + 1)).toMatchObject({ person });
    expect((await store.devices(queryOf({ userId: 'nEAR.ONE' }))).total).toBe(2);
    expect((await store.devices(queryOf({ userId: 'ZO\u00cb' }))).total).toBe(2);
    expect(await commit(store, [leaving(1, 'near.one')])).toEqual([left([1, 2])]);
    expect(await store.userByName('Near.One')).toMatchObject({ disabled: true });
  }),

  rule('devices with the name of a new person become those of the person', async ({ store }) => {
    await bind(store, 'Ada', 'bob', 'ada');
    expect([await store.unmatchedCount(), await store.isUnmatched('ADA')]).toEqual([3, true]);
    await commit(store, [add('ada')]);
    expect(await store.device(1)).toMatchObject({ userId: 'Ada', person: 1, version: 3 });
    expect(await store.devicesOf(1)).toMatchObject([{ number: 1 }, { number: 3 }]);
    expect([await store.deviceCount(1), await store.isUnmatched('ada')]).toEqual([2, false]);
    expect(await store.unmatchedDevices(9, 0)).toMatchObject([{ number: 2, userId: 'bob' }]);
    expect(await store.unmatchedDevices(9, 1)).toEqual([]);
  }),

  rule('the first leave decides who has ended a person, and the words of its reason do not', async ({ store }) => {
    await commit(store, [add('ada'), add('bob')]);
    const byAdmin = { reason: 'left (scim)', endedBy: 'admin' } as const;
    await commit(store, [leaving(1, 'ada', byAdmin), leaving(2, 'bob', { reason: 'moved' })]);
    await commit(store, [leaving(1, 'ada'), leaving(2, 'bob', byAdmin)]);
    const [ada, bob] = [(await store.person(1))!, (await store.person(2))!];
    expect([ada, bob]).toMatchObject([{ endedBy: 'admin' }, { endedBy: 'source', reason: 'moved' }]);
    expect([ada, bob].map(domain.isEndedHere)).toEqual([true, false]);
    await commit(store, [domain.comesBack(ada, [])!]);
    expect(await store.person(1)).toMatchObject({ active: true, endedBy: null });
  }),

  rule('a leave also ends devices with the name alone, unless the name means another person', async ({ store }) => {
    await commit(store, [add('ada', { externalId: 'one' })]);
    await commit(store, [leaving(1, 'ada', { rule: { action: 'lock', delayMs: MINUTE }, isRemoved: true })], {
      at: NOON,
    });
    await commit(store, [add('ada', { externalId: 'two' }), addDevice('SN-1'), addDevice('SN-2')]);
    const alone = (userId: string) => ({ status: 'ACTIVE', userId, person: null }) as const;
    await commit(store, [setDevice(1, alone('ADA')), setDevice(2, alone('ada.2'))]);
    expect(await commit(store, [leaving(1, 'ada', { step: 'due' })], { at: NOON + MINUTE })).toEqual([left([])]);
    expect(await commit(store, [leaving(2, 'ada')])).toEqual([left([1])]);
    expect(await store.device(1)).toMatchObject({ status: 'LOCKED', userId: 'ada', person: 2 });
    expect(await store.device(2)).toMatchObject({ status: 'ACTIVE' });
  }),

  rule('a person with the name of a removed one is another person', async ({ store }) => {
    await commit(store, [add('ada', { externalId: 'one' })]);
    await bind(store, 'ada');
    const rule = { action: 'lock', delayMs: MINUTE } as const;
    await commit(store, [leaving(1, 'ada', { rule, isRemoved: true })], { at: NOON });
    expect(await commit(store, [add('Ada', { externalId: 'two' })])).toMatchObject([{ kind: 'added', number: 2 }]);
    expect(await commit(store, [add('ada')])).toEqual([{ kind: 'duplicate', number: 2, status: null }]);
    await bind(store, 'ada');
    expect([await store.device(1), await store.device(2)]).toMatchObject([{ person: 1 }, { person: 2 }]);
    expect(await store.personByName('ada')).toMatchObject({ number: 2 });
    expect(await store.peopleNamed('ADA')).toHaveLength(2);
    const former = (await store.person(1))!;
    await expect(commit(store, [domain.comesBack(former, [])!])).rejects.toThrow(Conflict);
    const due = leaving(1, 'ada', { step: 'due' });
    expect(await commit(store, [due], { at: NOON + MINUTE })).toEqual([left([1])]);
    expect([await store.device(1), await store.device(2)]).toMatchObject([{ status: 'LOCKED' }, { status: 'ACTIVE' }]);
    await commit(store, [domain.edit((await store.person(2))!, { userName: 'ada.2' })!]);
    await commit(store, [add('bob')]);
    const bob = (await store.person(3))!;
    await expect(commit(store, [domain.edit(bob, { userName: 'ada' })!])).rejects.toThrow(Conflict);
    await commit(store, [domain.comesBack((await store.person(1))!, [1])!]);
    expect(await store.personByName('ada')).toMatchObject({ number: 1 });
  }),

  rule(
    'a new user name disables the local account with the former one, which a leave would not find',
    async ({ store }) => {
      await commit(store, [add('ada'), add('root'), add('eve')]);
      const ofProvider = { passwordHash: hashOf('key') };
      await commit(store, [addUser('ada'), addUser('root', { role: 'ADMIN' }), addUser('eve', ofProvider)]);
      for (const [number, userName] of [
        [1, 'ada.l'],
        [2, 'root.l'],
        [3, 'eve.l'],
      ] as const)
        await commit(store, [domain.edit((await store.person(number))!, { userName })!]);
      expect(await store.userByName('ada')).toMatchObject({ disabled: true, tokenEpoch: 1 });
      expect(await store.userByName('root')).toMatchObject({ disabled: false });
      expect(await store.userByName('eve')).toMatchObject({ disabled: false });
    },
  ),

  rule('a person gets the name of an account only if it is disabled or of the provider', async ({ store }) => {
    const names = ['root', 'boss', 'off', 'eve'] as const;
    const ofProvider = { passwordHash: hashOf('key') };
    const accounts = [
      addUser('boss', { role: 'ADMIN' }),
      addUser('off', { disabled: true }),
      addUser('eve', ofProvider),
    ];
    await commit(store, [add('ada'), addUser('root', { role: 'ADMIN' }), ...accounts]);
    const rename = async (userName: string) =>
      commit(store, [domain.edit((await store.person(1))!, { userName })!]).catch(error => error);
    const renamed = [];
    for (const name of names) renamed.push((await rename(name)) instanceof Conflict);
    await rename('ada.2');
    expect(renamed).toEqual([true, true, false, false]);
    expect(await Promise.all(names.map(async name => (await store.userByName(name))?.disabled))).toEqual([
      false,
      false,
      true,
      false,
    ]);
  }),
];
