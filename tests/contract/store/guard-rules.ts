import { expect } from 'vitest';
import { adopt } from '../../../daemon/accounts/service-token.ts';
import { CallerRefused, type Commit, Conflict } from '../../../daemon/store/commit.ts';
import {
  addBackup,
  addDevice,
  addToken,
  addUser,
  commit,
  everything,
  type Rule,
  restoreBackup,
  revokeToken,
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

  rule('a guard on fields of a device refuses a commit after one of them changed', async ({ store }) => {
    await commit(store, [addDevice('A', { firmwareVersion: null, tags: { lot: '7', shelf: '' } })]);
    const fields = { firmwareVersion: null, note: null, tags: { lot: '7', shelf: '' }, lockReason: null };
    const guards = [{ kind: 'device', device: 1, status: ['INACTIVE'], fields }] as const;
    await commit(store, [setDevice(1, { updatedAt: 5 }), useDevice(1, 3)], { guards });
    await commit(store, [addDevice('B')], { guards });
    for (const set of [
      { firmwareVersion: '1' },
      { note: '' },
      { tags: { lot: '7' } },
      { tags: { lot: '8', shelf: '' } },
      { tags: { lot: '7', shelf: '', box: '' } },
      { lockReason: 'lost' },
    ]) {
      await commit(store, [setDevice(1, set)]);
      await expect(commit(store, [addDevice('C')], { guards })).rejects.toThrow(Conflict);
      await commit(store, [setDevice(1, fields)]);
    }
    await commit(store, [addDevice('D')], { guards });
    expect((await store.device(3))?.serialNumber).toBe('D');
  }),

  rule('a guard on fields of a user refuses a commit after one of them changed', async ({ store }) => {
    await commit(store, [addUser('bob')]);
    const { role, email, disabled } = (await store.user(1))!;
    const fields = { role, email, disabled };
    const guards = [{ kind: 'user', user: 1, tokenEpoch: 0, fields }] as const;
    for (const set of [{ role: 'ADMIN' }, { email: 'b@example.com' }, { disabled: true }] as const) {
      await commit(store, [addDevice(`before ${JSON.stringify(set)}`)], { guards });
      await commit(store, [setUser(1, set, false)]);
      await expect(commit(store, [addDevice('C')], { guards })).rejects.toThrow(Conflict);
      await commit(store, [setUser(1, fields, false)]);
    }
  }),

  rule('a commit is refused if its caller was logged out, disabled or given another role', async ({ store }) => {
    await commit(store, [addUser('bob', { role: 'DEALER' }), addDevice('A')]);
    const by = (tokenEpoch: number, role: 'DEALER' | 'ADMIN', user = 1): Pick<Commit, 'caller'> => ({
      caller: { kind: 'user', user, tokenEpoch, role },
    });
    const write = (rest: Pick<Commit, 'caller'>) => commit(store, [setDevice(1, { note: 'x' })], rest);
    const refused = async (rest: Pick<Commit, 'caller'>, lost: string) => {
      const before = await everything(store);
      const error = await write(rest).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(CallerRefused);
      expect(error).toMatchObject({ lost });
      expect(await everything(store)).toEqual(before);
    };
    await write(by(0, 'DEALER'));
    await refused(by(0, 'DEALER', 2), 'revoked');
    await commit(store, [setUser(1, { role: 'ADMIN' }, false)]);
    await refused(by(0, 'DEALER'), 'role');
    await write(by(0, 'ADMIN'));
    await commit(store, [setUser(1, { disabled: true }, false)]);
    await refused(by(0, 'ADMIN'), 'revoked');
    await commit(store, [setUser(1, { disabled: false }, true)]);
    await refused(by(0, 'ADMIN'), 'revoked');
    await write(by(1, 'ADMIN'));
  }),

  rule('a commit is refused if the service token of its caller was revoked', async ({ store }) => {
    await commit(store, [addToken('line-1'), addToken('line-2'), addDevice('A')]);
    const write = (token: number) =>
      commit(store, [setDevice(1, { note: 'x' })], { caller: { kind: 'service-token', token, owner: null } });
    await write(1);
    await expect(write(3)).rejects.toThrow(CallerRefused);
    await commit(store, [revokeToken(1)]);
    await expect(write(1)).rejects.toThrow(CallerRefused);
    await write(2);
  }),

  rule('a commit is refused if the account of the owner of its service token is disabled', async ({ store }) => {
    await commit(store, [addUser('ann', { role: 'ADMIN' }), addUser('ben', { role: 'ADMIN' }), addDevice('A')]);
    await commit(store, [addToken('line-1', { owner: 1 })]);
    const write = (owner: number) =>
      commit(store, [setDevice(1, { note: 'x' })], { caller: { kind: 'service-token', token: 1, owner } });
    await write(1);
    await commit(store, [setUser(1, { disabled: true })]);
    await expect(write(1)).rejects.toMatchObject({ lost: 'revoked' });
    await commit(store, [adopt((await store.serviceToken(1))!, 2)]);
    await write(2);
    await commit(store, [setUser(1, { disabled: false })]);
    await write(2);
  }),

  rule('a caller whose revocation was undone can continue', async ({ store }) => {
    await commit(store, [addUser('bob', { role: 'DEALER' }), addToken('line-1')]);
    const user = { kind: 'user', user: 1, tokenEpoch: 0, role: 'DEALER' } as const;
    const token = { kind: 'service-token', token: 1, owner: null } as const;
    const unstorable = addDevice('never', { manufacturer: null as unknown as string });
    const undone = commit(store, [setUser(1, {}, true), revokeToken(1), unstorable]);
    const along = commit(store, [addDevice('A')], { caller: user });
    await expect(undone).rejects.toThrow();
    await along;
    await commit(store, [addDevice('B')], { caller: user });
    await commit(store, [addDevice('C')], { caller: token });
    expect((await store.device(3))?.serialNumber).toBe('C');
  }),

  rule('a caller that its own commit logs out makes that commit', async ({ store }) => {
    await commit(store, [addUser('bob', { role: 'ADMIN' })]);
    const caller = { kind: 'user', user: 1, tokenEpoch: 0, role: 'ADMIN' } as const;
    const both = await Promise.allSettled([
      commit(store, [setUser(1, {}, true)], { caller }),
      commit(store, [addDevice('late')], { caller }),
    ]);
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(await store.device(1)).toBeNull();
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
