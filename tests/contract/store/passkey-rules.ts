/** Rules about the keys that users sign in with. */
import { expect } from 'vitest';
import { create, passkeysUnchanged, remove } from '../../../daemon/sign-in/passkey.ts';
import type { Change } from '../../../daemon/store/commit.ts';
import { Conflict } from '../../../daemon/store/commit.ts';
import type { Store } from '../../../daemon/store/store.ts';
import { addUser, commit, newPasskey, type Rule, rule } from './fixtures.ts';

const alice = { username: 'alice' };
const add = (owner: number, credentialId: string): Change => create(newPasskey(owner, credentialId), alice);
const use = (passkey: number, before: number, signCount = 5): Change => ({
  kind: 'passkey.use',
  passkey,
  before,
  signCount,
  usedAt: 70,
  used: [{ id: `challenge-${before}`, expiresAt: 99 }],
});

export const passkeyRules: readonly Rule[] = [
  rule('a passkey is found by number, credential and owner, also after a restart', async ({ store, reopen }) => {
    await commit(store, [addUser('alice'), addUser('bob')]);
    const change = create(newPasskey(1, 'key-1'), alice);
    expect(await commit(store, [change], { at: 1_800_000_000_007 })).toEqual([{ kind: 'added', number: 1 }]);
    await commit(store, [add(2, 'key-2'), add(1, 'key-3')]);
    const times = { createdAt: 1_800_000_000_007, lastUsedAt: null, removedAt: null };
    const record = { ...newPasskey(1, 'key-1'), number: 1, ...times, version: 0, used: [] };
    const read = async (reader: Store) => {
      expect(await reader.passkey(1)).toEqual(record);
      expect(await reader.passkeyByCredential('key-1')).toEqual(record);
      expect((await reader.passkeysOf(1)).map(({ number }) => number)).toEqual([1, 3]);
      expect(await reader.keyOwners([1, 2, 9])).toEqual(new Set([1, 2]));
      expect([await reader.keyOwners([2]), await reader.keyOwners([])]).toEqual([new Set([2]), new Set()]);
      expect([await reader.passkey(4), await reader.passkeyByCredential('key-4')]).toEqual([null, null]);
    };
    await read(store);
    await read(await reopen());
  }),

  rule('a credential is stored once, also if its passkey is removed', async ({ store }) => {
    await commit(store, [addUser('alice'), addUser('bob')]);
    await commit(store, [add(1, 'key-1')]);
    expect(await commit(store, [add(2, 'key-1')])).toEqual([{ kind: 'duplicate', number: 1, status: null }]);
    await commit(store, [remove((await store.passkey(1))!)]);
    expect(await commit(store, [add(1, 'key-1')])).toEqual([{ kind: 'duplicate', number: 1, status: null }]);
    expect(await store.passkeysOf(1)).toEqual([]);
    expect([await store.hadPasskey(1), await store.hadPasskey(2)]).toEqual([true, false]);
    expect(await store.keyOwners([1, 2])).toEqual(new Set());
    expect((await store.passkeyByCredential('key-1'))?.removedAt).not.toBeNull();
    const entries = (await store.events({ after: 2, limit: 9 })).map(({ type, subject }) => [type, subject]);
    expect(entries).toEqual([
      ['PASSKEY_ADDED', 1],
      ['PASSKEY_REMOVED', 1],
    ]);
  }),

  rule('a use is stored without an entry, from the version that was read', async ({ store, reopen }) => {
    await commit(store, [addUser('alice')]);
    await commit(store, [add(1, 'key-1')]);
    await commit(store, [use(1, 0)]);
    for (const version of [0, 2]) await expect(commit(store, [use(1, version)])).rejects.toThrow(Conflict);
    const again = await reopen();
    const stored = { version: 1, signCount: 5, lastUsedAt: 70, used: [{ id: 'challenge-0', expiresAt: 99 }] };
    expect(await again.passkey(1)).toMatchObject(stored);
    expect(await again.lastEventId()).toBe(2);
  }),

  rule('of two uses that are stored together one is a conflict', async ({ store }) => {
    await commit(store, [addUser('alice')]);
    await commit(store, [add(1, 'key-1')]);
    const both = await Promise.allSettled([commit(store, [use(1, 0)]), commit(store, [use(1, 0)])]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  }),

  rule('a guard on the passkeys of a user refuses a commit after one was added or removed', async ({ store }) => {
    await commit(store, [addUser('alice'), addUser('bob')]);
    await commit(store, [add(1, 'key-1'), add(1, 'key-2'), add(2, 'key-3')]);
    const guards = [passkeysUnchanged(1, await store.passkeysOf(1))];
    const gone = remove((await store.passkey(2))!);
    await commit(store, [use(1, 0), remove((await store.passkey(3))!)], { guards });
    await commit(store, [add(1, 'key-4')], { guards });
    await expect(commit(store, [gone], { guards })).rejects.toThrow(Conflict);
    await commit(store, [remove((await store.passkey(4))!)]);
    await commit(store, [gone], { guards });
    await expect(commit(store, [add(1, 'key-5')], { guards })).rejects.toThrow(Conflict);
    expect((await store.passkeysOf(1)).map(({ number }) => number)).toEqual([1]);
  }),

  rule('of two removals that leave one passkey and are stored together one is a conflict', async ({ store }) => {
    await commit(store, [addUser('alice')]);
    await commit(store, [add(1, 'key-1'), add(1, 'key-2')]);
    const keys = await store.passkeysOf(1);
    const guards = [passkeysUnchanged(1, keys)];
    const both = await Promise.allSettled(keys.map(key => commit(store, [remove(key)], { guards })));
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await store.passkeysOf(1)).toHaveLength(1);
  }),

  rule('a passkey that is removed can be neither used nor removed', async ({ store }) => {
    await commit(store, [addUser('alice')]);
    await commit(store, [add(1, 'key-1')]);
    const gone = remove((await store.passkey(1))!);
    await commit(store, [gone]);
    await expect(commit(store, [gone])).rejects.toThrow(Conflict);
    await expect(commit(store, [use(1, 0)])).rejects.toThrow(Conflict);
    await expect(commit(store, [use(2, 0)])).rejects.toThrow(Conflict);
  }),
];
