import { expect } from 'vitest';
import { adopt } from '../../../daemon/accounts/service-token.ts';
import { create, edit } from '../../../daemon/people/decisions.ts';
import type { Change } from '../../../daemon/store/commit.ts';
import { Conflict } from '../../../daemon/store/commit.ts';
import type { Store } from '../../../daemon/store/store.ts';
import { addDevice, addToken, addUser, commit, type Rule, revokeToken, rule, setDevice, setUser } from './fixtures.ts';

const unnamed = { name: null, names: null, email: null, externalId: null, groups: [], source: 'local' } as const;
const addPerson = (userName: string): Change => create({ userName, ...unnamed });

/** Rules about service tokens. */
export const tokenRules: readonly Rule[] = [
  rule(
    'a service token is found by number and by digest, with all its fields, also after a restart',
    async ({ store, reopen }) => {
      const allowedFrom = ['10.0.0.0/8', '2001:db8::/32'];
      const fixed = { role: 'VIEWER', sha256: 'ab'.repeat(32), createdBy: 'eve', owner: 4, expiresAt: 99 } as const;
      const given = { ...fixed, allowedFrom, may: ['webhooks', 'scim'] } as const;
      expect(await commit(store, [addToken('line-1', given)], { at: 7 })).toEqual([{ kind: 'added', number: 1 }]);
      const record = { ...given, number: 1, name: 'line-1', createdAt: 7, lastUsedAt: null, revokedAt: null };
      const read = async (reader: Store) => [
        await reader.serviceToken(1),
        await reader.serviceTokenByDigest(given.sha256),
      ];
      expect(await read(store)).toEqual([record, record]);
      expect(await read(await reopen())).toEqual([record, record]);
    },
  ),

  rule('a name is free again when its service token is revoked', async ({ store }) => {
    await commit(store, [addToken('line-1')], { at: 5 });
    const twin = addToken('line-1', { sha256: 'cd'.repeat(32) });
    expect(await commit(store, [twin], { at: 6 })).toEqual([{ kind: 'duplicate', number: 1, status: null }]);
    await commit(store, [revokeToken(1)], { at: 8 });
    expect(await commit(store, [twin])).toEqual([{ kind: 'added', number: 2 }]);
    const { rows, total } = await store.serviceTokens({ descending: false, offset: 0, limit: 10 });
    expect([total, rows.map(({ revokedAt }) => revokedAt)]).toEqual([2, [8, null]]);
    expect((await store.events({ after: 0, limit: 10 })).map(({ type, subject }) => [type, subject])).toEqual([
      ['TOKEN_CREATED', 1],
      ['TOKEN_REVOKED', 1],
      ['TOKEN_CREATED', 2],
    ]);
  }),

  rule('a name that one transaction frees is taken again in it, and only once', async ({ store }) => {
    await commit(store, [addToken('line-1')]);
    const twins = ['cd', 'ef'].map(digest => addToken('line-1', { sha256: digest.repeat(32) }));
    expect(await commit(store, [revokeToken(1), ...twins])).toEqual([
      { kind: 'done' },
      { kind: 'added', number: 2 },
      { kind: 'duplicate', number: 2, status: null },
    ]);
  }),

  rule('a service token is revoked once; a second time, or an unknown one, is a conflict', async ({ store }) => {
    await commit(store, [addToken('line-1')]);
    await commit(store, [revokeToken(1)]);
    for (const number of [1, 2]) await expect(commit(store, [revokeToken(number)])).rejects.toThrow(Conflict);
  }),

  rule('a service token has one owner, who is replaced from the one that was read', async ({ store, reopen }) => {
    await commit(store, [addToken('line-1', { owner: 1 }), addToken('line-2', { owner: 1 }), addToken('line-3')]);
    const [first, third] = [(await store.serviceToken(1))!, (await store.serviceToken(3))!];
    const seen: (readonly number[])[] = [];
    store.onCommit(({ serviceTokens }) => seen.push(serviceTokens));
    await commit(store, [adopt(first, 2), adopt(third, 2)]);
    expect(seen).toEqual([[1, 3]]);
    await expect(commit(store, [adopt(first, 3)])).rejects.toThrow(Conflict);
    await commit(store, [revokeToken(3)]);
    await expect(commit(store, [adopt({ ...third, owner: 2 }, 1)])).rejects.toThrow(Conflict);
    const of = async (reader: Store, owner: number) =>
      (await reader.serviceTokensOf(owner)).map(({ number }) => number);
    const later = await reopen();
    expect([await of(later, 1), await of(later, 2), await of(later, 3)]).toEqual([[2], [1], []]);
    const [entry] = (await later.events({ after: 3, limit: 1 })).slice(-1);
    expect(entry).toMatchObject({ type: 'TOKEN_ADOPTED', subject: 1, detail: { owner: 'USR-2', before: 'USR-1' } });
  }),

  rule('the last use of a service token is stored without an entry, and never goes back', async ({ store }) => {
    await commit(store, [addToken('line-1')]);
    for (const usedAt of [50, 40]) await commit(store, [{ kind: 'token.use', token: 1, usedAt }]);
    expect((await store.serviceToken(1))?.lastUsedAt).toBe(50);
    expect(await store.lastEventId()).toBe(1);
  }),

  rule('listeners learn which service tokens were added or revoked, not which were used', async ({ store }) => {
    const seen: (readonly number[])[] = [];
    store.onCommit(({ serviceTokens }) => seen.push(serviceTokens));
    await commit(store, [addToken('line-1'), addToken('line-2')]);
    await commit(store, [{ kind: 'token.use', token: 2, usedAt: 5 }]);
    await commit(store, [revokeToken(2)]);
    expect(seen.filter(numbers => numbers.length > 0)).toEqual([[1, 2], [2]]);
  }),

  rule(
    'tokens whose owner is disabled or has left, and devices of persons who have left, are counted',
    async ({ store }) => {
      await commit(store, [addUser('ann'), addUser('Bob'), addUser('cy'), addPerson('ANN'), addPerson('bob')]);
      await commit(
        store,
        [1, 2, 3].map(owner => addToken(`line-${owner}`, { owner, expiresAt: 99 })),
      );
      await commit(store, [addToken('late', { owner: 1, expiresAt: 5 }), addToken('revoked', { owner: 1 })]);
      await commit(store, [revokeToken(5), addDevice('A'), addDevice('B')]);
      await commit(
        store,
        [1, 2].map(device => setDevice(device, { status: 'ACTIVE', userId: device === 1 ? 'ann' : 'bob' })),
      );
      const counts = async () => [await store.leaverDevices(), await store.ownerlessTokens(10)];
      expect(await counts()).toEqual([0, 0]);
      await commit(store, [setUser(3, { disabled: true })]);
      expect(await counts()).toEqual([0, 1]);
      const gone = { active: false, leftAt: 3 };
      const set = async (person: number, fields: object) =>
        commit(store, [edit((await store.person(person))!, fields)!]);
      await set(1, { ...gone, heldAt: 3 });
      expect(await counts()).toEqual([1, 1]);
      await set(1, { heldAt: null });
      await set(2, gone);
      expect(await counts()).toEqual([2, 3]);
      expect([await store.ownerlessTokens(4), await store.ownerlessTokens(99)]).toEqual([4, 0]);
    },
  ),
];
