import { expect } from 'vitest';
import { Conflict, StoreFailure } from '../../../daemon/store/store.ts';
import {
  addApp,
  addBackup,
  addDevice,
  addUser,
  commit,
  commitOf,
  everything,
  newDevice,
  numbersOf,
  queryOf,
  type Rule,
  restoreBackup,
  rule,
  setDevice,
  setUser,
  useDevice,
} from './makings.ts';

/** Rules of writing: whole or not at all, with its entry, under its guards. */
export const commitRules: readonly Rule[] = [
  rule('numbers ascend from 1 without gaps, past duplicates, refusals and a restart', async ({ store, reopen }) => {
    expect(await commit(store, [addDevice('A'), addDevice('B')])).toEqual([
      { kind: 'added', number: 1 },
      { kind: 'added', number: 2 },
    ]);
    await commit(store, [addDevice('A')]);
    await expect(commit(store, [addDevice('never'), setDevice(99, { note: 'x' })])).rejects.toThrow(Conflict);
    expect(await commit(store, [addDevice('C')])).toEqual([{ kind: 'added', number: 3 }]);
    const again = await reopen();
    expect(await commit(again, [addDevice('D')])).toEqual([{ kind: 'added', number: 4 }]);
    expect((await again.events({ after: 0, limit: 10 })).map(event => [event.id, event.device])).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
      [4, 4],
    ]);
  }),

  rule('a device is stored as it was given, and INACTIVE', async ({ store }) => {
    const given = newDevice('UK-1', {
      hardwareVersion: 'a\u{1F511}',
      firmwareVersion: null,
      manufacturer: "O'Neil %_",
    });
    await commit(store, [addDevice('UK-1', given)], { at: 5 });
    expect(await store.device(1)).toEqual({
      ...given,
      number: 1,
      status: 'INACTIVE',
      userId: null,
      note: null,
      createdAt: 5,
      activatedAt: null,
      lastUsedAt: null,
      lockReason: null,
      lockedAt: null,
      deactivatedAt: null,
      updatedAt: null,
      usageCount: 0,
      usageSeconds: 0,
      backupCount: 0,
      lastBackupAt: null,
    });
    expect(await store.device(2)).toBeNull();
  }),

  rule('every change writes one entry, in order, about the right thing', async ({ store }) => {
    const context = { at: 77, actor: 'dealer', requestId: null };
    await commit(store, [addUser('bob'), addDevice('A')], {
      at: 76,
      actor: null,
      requestId: 'r',
    });
    await commit(
      store,
      [
        { ...setDevice(1, { note: 'n' }), entry: { type: 'DEVICE_UPDATED', data: { a: 1 }, detail: { was: null } } },
        useDevice(1, 9),
        setUser(1, { email: 'b@example.com' }),
        addApp('1.0.0'),
        addBackup(1),
      ],
      context,
    );
    await commit(store, [restoreBackup(1, 1)], context);
    const second = { at: 77, actor: 'dealer', requestId: null, data: {}, detail: {} };
    expect(await store.events({ after: 0, limit: 100 })).toEqual([
      {
        id: 1,
        at: 76,
        type: 'USER_CREATED',
        device: null,
        subject: 1,
        actor: null,
        requestId: 'r',
        data: {},
        detail: { username: 'bob' },
      },
      {
        id: 2,
        at: 76,
        type: 'DEVICE_REGISTERED',
        device: 1,
        subject: null,
        actor: null,
        requestId: 'r',
        data: { deviceType: 'UKEY', serialNumber: 'A' },
        detail: {},
      },
      { ...second, id: 3, type: 'DEVICE_UPDATED', device: 1, subject: null, data: { a: 1 }, detail: { was: null } },
      { ...second, id: 4, type: 'DEVICE_USED', device: 1, subject: null, detail: { seconds: 9 } },
      { ...second, id: 5, type: 'USER_UPDATED', device: null, subject: 1 },
      {
        ...second,
        id: 6,
        type: 'APP_VERSION_UPLOADED',
        device: null,
        subject: 1,
        data: { platform: 'ANDROID', version: '1.0.0' },
      },
      { ...second, id: 7, type: 'BACKUP_CREATED', device: 1, subject: 1 },
      { ...second, id: 8, type: 'BACKUP_RESTORED', device: 1, subject: 1 },
    ]);
  }),

  rule('a duplicate is an outcome that names the first, and writes neither row nor entry', async ({ store }) => {
    await commit(store, [addDevice('A'), addUser('bob'), addApp('1.0.0')]);
    await commit(store, [setDevice(1, { status: 'LOCKED' })]);
    const before = await everything(store);
    expect(await commit(store, [addDevice('A', { model: 'other' }), addUser('bob'), addApp('1.0.0')])).toEqual([
      { kind: 'duplicate', number: 1, status: 'LOCKED' },
      { kind: 'duplicate', number: 1, status: null },
      { kind: 'duplicate', number: 1, status: null },
    ]);
    expect(await everything(store)).toEqual(before);
  }),

  rule('of two equal serials in one commit the first wins; serials and names tell case', async ({ store }) => {
    expect(
      await commit(store, [addDevice('A', { model: 'one' }), addDevice('A', { model: 'two' }), addDevice('a')]),
    ).toEqual([
      { kind: 'added', number: 1 },
      { kind: 'duplicate', number: 1, status: 'INACTIVE' },
      { kind: 'added', number: 2 },
    ]);
    expect((await store.device(1))?.model).toBe('one');
    expect(await commit(store, [addUser('bob'), addUser('Bob')])).toMatchObject([{ number: 1 }, { number: 2 }]);
  }),

  rule('a package of another platform, version or extension is no duplicate', async ({ store }) => {
    const outcomes = await commit(store, [
      addApp('1.0.0', { platform: 'LINUX', extension: 'deb' }),
      addApp('1.0.0', { platform: 'LINUX', extension: 'rpm' }),
      addApp('1.0.0', { platform: 'MACOS', extension: 'dmg' }),
      addApp('1.0.1', { platform: 'LINUX', extension: 'deb' }),
    ]);
    expect(outcomes.map(outcome => outcome.kind)).toEqual(['added', 'added', 'added', 'added']);
  }),

  rule('a guard on the status of a device that does not hold refuses, and nothing is written', async ({ store }) => {
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

  rule('a guard on a device that does not exist refuses', async ({ store }) => {
    const guards = [{ kind: 'device', device: 1, status: ['INACTIVE'] }] as const;
    await expect(commit(store, [addUser('bob')], { guards })).rejects.toThrow(Conflict);
    expect(await store.user(1)).toBeNull();
  }),

  rule('a guard on the activation code refuses another one', async ({ store }) => {
    await commit(store, [addDevice('A')]);
    const guard = (activationCode: string) => ({
      guards: [{ kind: 'device', device: 1, status: ['INACTIVE'], activationCode }] as const,
    });
    await expect(commit(store, [setDevice(1, { note: 'x' })], guard('CODE-B'))).rejects.toThrow(Conflict);
    expect((await store.device(1))?.note).toBeNull();
    await commit(store, [setDevice(1, { note: 'x' })], guard('CODE-A'));
    expect((await store.device(1))?.note).toBe('x');
  }),

  rule('a guard on a token epoch refuses after a revocation', async ({ store }) => {
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

  rule('the last enabled administrator is guarded', async ({ store }) => {
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

  rule('a change of something that does not exist refuses the whole commit', async ({ store }) => {
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

  rule('of commits that come together, one that is refused undoes no other', async ({ store }) => {
    const results = await Promise.allSettled([
      commit(store, [addDevice('A')]),
      commit(store, [addDevice('B'), setDevice(50, { note: 'x' })]),
      commit(store, [addDevice('C'), addDevice('A')]),
      commit(store, [addDevice('D')], { guards: [{ kind: 'device', device: 1, status: ['LOCKED'] }] }),
      commit(store, [addDevice('E')]),
    ]);
    expect(results.map(result => result.status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    const { rows } = await store.devices(queryOf({ descending: false }));
    expect(rows.map(row => [row.number, row.serialNumber])).toEqual([
      [1, 'A'],
      [2, 'C'],
      [3, 'E'],
    ]);
    expect((await store.events({ after: 0, limit: 10 })).map(event => event.data.serialNumber)).toEqual([
      'A',
      'C',
      'E',
    ]);
  }),

  rule('a commit that cannot be stored undoes no other that came with it', async ({ store }) => {
    const unstorable = addDevice('B', { manufacturer: null as unknown as string });
    const results = await Promise.allSettled([
      commit(store, [addDevice('A')]),
      commit(store, [addDevice('never'), unstorable]),
      commit(store, [addDevice('C')]),
    ]);
    expect(results.map(result => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect((results[1] as PromiseRejectedResult).reason).toBeInstanceOf(StoreFailure);
    expect((await store.devices(queryOf({ descending: false }))).rows.map(row => row.serialNumber)).toEqual(['A', 'C']);
    expect(await store.lastEventId()).toBe(2);
    expect((await store.health()).ready).toBe(true);
  }),

  rule('of many who want the same transition at once, exactly one gets it', async ({ store }) => {
    await commit(store, [addDevice('A')]);
    const guards = [{ kind: 'device', device: 1, status: ['INACTIVE'] }] as const;
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) =>
        commit(store, [setDevice(1, { status: 'ACTIVE', userId: `user-${i}`, activatedAt: i })], { guards }),
      ),
    );
    expect(results.filter(result => result.status === 'fulfilled')).toHaveLength(1);
    const winner = results.findIndex(result => result.status === 'fulfilled');
    expect(await store.device(1)).toMatchObject({ status: 'ACTIVE', userId: `user-${winner}`, activatedAt: winner });
    expect(await store.lastEventId()).toBe(2);
  }),

  rule('a set leaves what it does not name, and null clears', async ({ store }) => {
    await commit(store, [addDevice('A')]);
    const all = {
      status: 'LOCKED',
      userId: 'alice',
      activationCode: 'NEW',
      activationCodeExpiresAt: 9,
      firmwareVersion: '2',
      note: 'n',
      activatedAt: 1,
      lockReason: 'lost',
      lockedAt: 2,
      deactivatedAt: 3,
      updatedAt: 4,
    } as const;
    await commit(store, [setDevice(1, all)]);
    expect(await store.device(1)).toMatchObject(all);
    await commit(store, [setDevice(1, { lockReason: null, lockedAt: null, status: 'ACTIVE' })]);
    expect(await store.device(1)).toMatchObject({ ...all, lockReason: null, lockedAt: null, status: 'ACTIVE' });
  }),

  rule('usage and backups are summed up on the device', async ({ store }) => {
    await commit(store, [addDevice('A'), addDevice('B')]);
    expect(await commit(store, [useDevice(1, 30), useDevice(1, 0)], { at: 10 })).toEqual([
      { kind: 'used', usageCount: 1, usageSeconds: 30 },
      { kind: 'used', usageCount: 2, usageSeconds: 30 },
    ]);
    expect(await commit(store, [addBackup(1), useDevice(1, 12)], { at: 20 })).toEqual([
      { kind: 'added', number: 1 },
      { kind: 'used', usageCount: 3, usageSeconds: 42 },
    ]);
    expect(await store.device(1)).toMatchObject({
      usageCount: 3,
      usageSeconds: 42,
      lastUsedAt: 20,
      backupCount: 1,
      lastBackupAt: 20,
    });
    expect(await store.device(2)).toMatchObject({ usageCount: 0, lastUsedAt: null, backupCount: 0 });
  }),

  rule('listeners are told before the commit resolves, and not of what was refused', async ({ store }) => {
    await commit(store, [addUser('first')]);
    const told: { lastEventId: number; users: readonly number[] }[] = [];
    const stop = store.onCommit(notice => told.push(notice));
    await commit(store, [addUser('bob'), setUser(1, { email: 'f@example.com' }), addDevice('A')]);
    expect(told.map(notice => notice.lastEventId)).toEqual([4]);
    expect([...told[0]!.users].sort()).toEqual([1, 2]);
    await expect(commit(store, [setDevice(9, {})])).rejects.toThrow(Conflict);
    expect(told).toHaveLength(1);
    stop();
    await commit(store, [addDevice('B')]);
    expect(told).toHaveLength(1);
  }),

  rule('a listener that throws harms neither the commit nor other listeners', async ({ store }) => {
    let told = 0;
    store.onCommit(() => {
      throw new Error('listener');
    });
    store.onCommit(() => told++);
    expect(await commit(store, [addDevice('A')])).toEqual([{ kind: 'added', number: 1 }]);
    expect(told).toBe(1);
  }),

  rule('a reader sees a large commit whole or not at all', async ({ store }) => {
    let under = true;
    const writing = commit(
      store,
      Array.from({ length: 5000 }, (_, i) => addDevice(`S${i}`)),
    ).finally(() => {
      under = false;
    });
    const seen = new Set<string>();
    while (under) {
      const first = (await store.device(1)) !== null;
      const last = (await store.device(5000)) !== null;
      const { total } = await store.devices(queryOf({ limit: 1, status: 'INACTIVE' }));
      seen.add(`${first} ${last} ${total}`);
      await new Promise(setImmediate);
    }
    await writing;
    // It may be committed between two looks, but what was seen once is not to go away.
    const possible = ['false false 0', 'false false 5000', 'false true 5000', 'true true 5000'];
    expect([...seen].filter(moment => !possible.includes(moment))).toEqual([]);
    expect((await store.devices(queryOf({ limit: 1 }))).total).toBe(5000);
    expect(await store.lastEventId()).toBe(5000);
  }),

  rule('what is acknowledged is there after a restart', async ({ store, reopen }) => {
    await commit(store, [addDevice('A'), addUser('bob', { role: 'ADMIN' }), addApp('1.0.0')]);
    await commit(store, [setDevice(1, { status: 'ACTIVE', userId: 'u' }), useDevice(1, 3), addBackup(1)]);
    const before = await everything(store);
    expect(await everything(await reopen())).toEqual(before);
  }),

  rule('closing waits for what was begun; afterwards everything is refused', async ({ store, reopen }) => {
    const writing = store.commit(commitOf([addDevice('A')]));
    await Promise.all([store.close(), store.close()]);
    expect(await writing).toEqual([{ kind: 'added', number: 1 }]);
    await store.close();
    await expect(commit(store, [addDevice('B')])).rejects.toThrow(StoreFailure);
    await expect(store.device(1)).rejects.toThrow(StoreFailure);
    await expect(store.devices(queryOf())).rejects.toThrow(StoreFailure);
    expect((await store.health()).ready).toBe(false);
    expect(numbersOf((await (await reopen()).devices(queryOf())).rows)).toEqual([1]);
  }),

  rule('a store that works says so', async ({ store }) => {
    expect(await store.health()).toEqual({ ready: true, detail: expect.any(String) });
  }),
];
