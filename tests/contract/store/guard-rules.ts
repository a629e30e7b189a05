import { expect } from 'vitest';
import { Conflict } from '../../../daemon/store/store.ts';
import {
  addBackup,
  addDevice,
  addUser,
  commit,
  everything,
  type Rule,
  restoreBackup,
  rule,
  setDevice,
  setUser,
  useDevice,
} from './fixtures.ts';

/** Rules about refused commits: nothing of them is written. */
export const guardRules: readonly Rule[] = [
  rule('a guard on the status of a device refuses a commit, and nothing is written', async ({ store }) => {
    await commit(store, [addDevice('A')]);
    const before = await everything(store);
    const guards = [{ kind: 'device', device: 1, status: ['ACTIVE', 'LOCKED'] }] as const;
    await expect(commit(store, [addDevice('B'), setDevice(1, { note: 'x' })], { guards })).rejects.toThrow(Conflict);
    expect(await everything(store)).toEqual(before);
    await commit(store, [setDevice(1, { status: 'LOCKED' })], {
      guards: [{ kind: 'device', device: 1, status: ['INACTIVE'] }],
    });
    await commit(store, [setDevice(1, { note: 'x' })], { guards });
    expect((await store.device(1))?.note).toBe('x');
  }),

  rule('a guard on a device that does not exist refuses the commit', async ({ store }) => {
    const guards = [{ kind: 'device', device: 1, status: ['INACTIVE'] }] as const;
    await expect(commit(store, [addUser('bob')], { guards })).rejects.toThrow(Conflict);
    expect(await store.user(1)).toBeNull();
  }),

  rule('a guard on the activation code refuses a commit after the code changed', async ({ store }) => {
    await commit(store, [addDevice('A')]);
    const guard = (activationCode: string) => ({
      guards: [{ kind: 'device', device: 1, status: ['INACTIVE'], activationCode }] as const,
    });
    await expect(commit(store, [setDevice(1, { note: 'x' })], guard('CODE-B'))).rejects.toThrow(Conflict);
    expect((await store.device(1))?.note).toBeNull();
    await commit(store, [setDevice(1, { note: 'x' })], guard('CODE-A'));
    expect((await store.device(1))?.note).toBe('x');
  }),

  rule('a guard on the token epoch refuses a commit after a revocation', async ({ store }) => {
    await commit(store, [addUser('bob'), addDevice('A')]);
    const guards = [{ kind: 'user', user: 1, tokenEpoch: 0 }] as const;
    await commit(store, [setDevice(1, { note: 'x' })], { guards });
    await commit(store, [setUser(1, { disabled: true }, false)]);
    expect((await store.user(1))?.tokenEpoch).toBe(0);
    await commit(store, [setUser(1, {}, true)]);
    expect((await store.user(1))?.tokenEpoch).toBe(1);
    await expect(commit(store, [setDevice(1, { note: 'y' })], { guards })).rejects.toThrow(Conflict);
    expect((await store.device(1))?.note).toBe('x');
  }),

  rule('a guard protects the last enabled administrator', async ({ store }) => {
    const admin = { role: 'ADMIN' } as const;
    await commit(store, [addUser('one', admin), addUser('two', { ...admin, disabled: true }), addUser('three')]);
    const alone = { guards: [{ kind: 'another-admin', beside: 1 }] } as const;
    await expect(commit(store, [setUser(1, { disabled: true })], alone)).rejects.toThrow(Conflict);
    await commit(store, [setUser(2, { disabled: false })]);
    await commit(store, [setUser(1, { disabled: true })], alone);
    expect((await store.admins()).map(user => user.number)).toEqual([2]);
    await expect(
      commit(store, [setUser(2, { role: 'VIEWER' })], { guards: [{ kind: 'another-admin', beside: 2 }] }),
    ).rejects.toThrow(Conflict);
  }),

  rule('a change of a record that does not exist refuses the whole commit', async ({ store }) => {
    await commit(store, [addDevice('A'), addDevice('B')]);
    await commit(store, [addBackup(1)]);
    const before = await everything(store);
    for (const missing of [
      setDevice(9, { note: 'x' }),
      useDevice(9, 1),
      setUser(1, { email: null }),
      addBackup(9),
      restoreBackup(1, 2),
      restoreBackup(2, 1),
    ])
      await expect(commit(store, [addDevice('C'), setDevice(1, { note: 'x' }), missing])).rejects.toThrow(Conflict);
    expect(await everything(store)).toEqual(before);
  }),
];
