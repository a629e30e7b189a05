import { expect } from 'vitest';
import { codeDigest } from '../../../daemon/devices/digest.ts';
import { Conflict } from '../../../daemon/store/commit.ts';
import type { Store } from '../../../daemon/store/store.ts';
import type { DeviceDescription } from '../../../src/contract/device-description.ts';
import {
  addApp,
  addBackup,
  addBound,
  addDevice,
  addUser,
  commit,
  everything,
  newDevice,
  queryOf,
  type Rule,
  restoreBackup,
  rule,
  setDevice,
  setUser,
  useDevice,
} from './fixtures.ts';

/** Rules about what a commit writes: rows, entries and numbers. */
export const commitRules: readonly Rule[] = [
  rule('numbers ascend from 1 without gaps, despite duplicates, refusals and restarts', async ({ store, reopen }) => {
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

  rule('a new device is stored as given, with status INACTIVE', async ({ store }) => {
    const described: DeviceDescription = {
      manufacturer: "O'Neil %_",
      model: 'ePass K9',
      hardwareVersion: 'a\u{1F511}',
      firmwareVersion: null,
    };
    const given = newDevice('UK-1', {
      ...described,
      tags: { constructor: '=1', lot: 'a"\u{1F511}', 'x-9_': "'" },
    });
    await commit(store, [addDevice('UK-1', given)], { at: 5 });
    expect(await store.device(1)).toEqual({
      ...given,
      number: 1,
      status: 'INACTIVE',
      userId: null,
      userKey: null,
      person: null,
      note: null,
      createdAt: 5,
      activatedAt: null,
      lastUsedAt: null,
      lockReason: null,
      lockedAt: null,
      deactivatedAt: null,
      shippedAt: null,
      receivedAt: null,
      updatedAt: null,
      usageCount: 0,
      usageSeconds: 0,
      backupCount: 0,
      lastBackupAt: null,
      version: 1,
    });
    expect(await store.device(2)).toBeNull();
  }),

  rule('a new device that is bound at once is as one that is registered and activated', async ({ store, reopen }) => {
    const many = Array.from({ length: 40 }, (_, n) => (n % 3 ? addBound(`B-${n}`, 'Ada') : addDevice(`B-${n}`)));
    const results = await commit(store, [addDevice('A-0'), addBound('A-0', 'Ada'), ...many], { at: 5 });
    expect(results[1]).toEqual({ kind: 'duplicate', number: 1, status: 'INACTIVE' });
    await commit(store, [setDevice(1, { status: 'ACTIVE', userId: 'Ada', activatedAt: 5 })], { at: 5 });
    const one = (await store.device(1))!;
    const { serialNumber, activationCode } = newDevice('B-1');
    const read = async (reader: Store) => {
      expect(await reader.device(3)).toEqual({ ...one, number: 3, serialNumber, activationCode });
      expect(await reader.device(2)).toMatchObject({ status: 'INACTIVE', userId: null, version: 1 });
      expect(await reader.devices(queryOf({ userId: 'ada', limit: 1 }))).toMatchObject({ total: 27 });
      expect(await reader.devices(queryOf({ status: ['ACTIVE'], limit: 1 }))).toMatchObject({ total: 27 });
      const entries = await reader.events({ after: 2, limit: 2 });
      expect(entries.map(({ type, device, data }) => [type, device, data.userId])).toEqual([
        ['DEVICE_REGISTERED', 3, undefined],
        ['DEVICE_ACTIVATED', 3, 'Ada'],
      ]);
    };
    await read(store);
    await read(await reopen());
  }),

  rule('every change writes one entry about the right record, in order', async ({ store }) => {
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
        detail: { codeDigest: codeDigest(newDevice('A')) },
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

  rule(
    'a duplicate is a result that names the existing record, and writes neither row nor entry',
    async ({ store }) => {
      await commit(store, [addDevice('A'), addUser('bob'), addApp('1.0.0')]);
      await commit(store, [setDevice(1, { status: 'LOCKED' })]);
      const before = await everything(store);
      expect(await commit(store, [addDevice('A', { model: 'other' }), addUser('bob'), addApp('1.0.0')])).toEqual([
        { kind: 'duplicate', number: 1, status: 'LOCKED' },
        { kind: 'duplicate', number: 1, status: null },
        { kind: 'duplicate', number: 1, status: null },
      ]);
      expect(await everything(store)).toEqual(before);
    },
  ),

  rule(
    'of two equal serial numbers or names in a commit the first wins; case counts in serial numbers, not in names',
    async ({ store }) => {
      expect(
        await commit(store, [addDevice('A', { model: 'one' }), addDevice('A', { model: 'two' }), addDevice('a')]),
      ).toEqual([
        { kind: 'added', number: 1 },
        { kind: 'duplicate', number: 1, status: 'INACTIVE' },
        { kind: 'added', number: 2 },
      ]);
      expect((await store.device(1))?.model).toBe('one');
      expect(await commit(store, [addUser('bob'), addUser('Bob'), addUser('bo')])).toMatchObject([
        { kind: 'added', number: 1 },
        { kind: 'duplicate', number: 1 },
        { kind: 'added', number: 2 },
      ]);
      expect(await commit(store, [addUser('BOB')])).toEqual([{ kind: 'duplicate', number: 1, status: null }]);
    },
  ),

  rule('of many devices, only those whose serial number is registered are duplicates', async ({ store }) => {
    await commit(store, [addDevice('old')]);
    const serials = Array.from({ length: 40 }, (_, n) => (n === 19 ? 'old' : n === 35 ? 'SN-3' : `SN-${n}`));
    const results = await commit(
      store,
      serials.map(serial => addDevice(serial)),
    );
    expect(results[19]).toEqual({ kind: 'duplicate', number: 1, status: 'INACTIVE' });
    expect(results[35]).toEqual({ kind: 'duplicate', number: 5, status: 'INACTIVE' });
    const added = results.flatMap((result, n) => (result.kind === 'added' ? [[result.number, serials[n]]] : []));
    expect(added.map(([number]) => number)).toEqual(Array.from({ length: 38 }, (_, n) => n + 2));
    for (const [number, serial] of added) expect((await store.device(Number(number)))?.serialNumber).toBe(serial);
    const entries = await store.events({ after: 0, limit: 100 });
    expect(entries.map(({ id, device, data }) => [id, device, data.serialNumber])).toEqual([
      [1, 1, 'old'],
      ...added.map(([number, serial]) => [number, number, serial]),
    ]);
    const more = Array.from({ length: 20 }, (_, n) => addDevice(`later-${n}`));
    for (const many of [more.slice(0, 18), more.slice(18)])
      expect((await commit(store, many)).every(({ kind }) => kind === 'added')).toBe(true);
    expect((await commit(store, [addDevice('last')]))[0]).toEqual({ kind: 'added', number: 60 });
  }),

  rule('of many commits at once, only that with a registered serial number has a duplicate', async ({ store }) => {
    const serials = Array.from({ length: 40 }, (_, n) => (n === 30 ? 'SN-29' : `SN-${n}`));
    const results = await Promise.all(serials.map(serial => commit(store, [addDevice(serial)])));
    expect(results.map(([result]) => result)).toEqual(
      serials.map((_, n) =>
        n === 30
          ? { kind: 'duplicate', number: 30, status: 'INACTIVE' }
          : { kind: 'added', number: n < 30 ? n + 1 : n },
      ),
    );
  }),

  rule('a commit can change devices that one right before it adds', async ({ store }) => {
    const many = Array.from({ length: 35 }, (_, n) => addDevice(`SN-${n}`));
    await Promise.all([
      commit(store, many),
      commit(store, [useDevice(3, 60), setDevice(35, { note: 'x' }), addBackup(34), addDevice('last')]),
    ]);
    expect(await store.device(3)).toMatchObject({ serialNumber: 'SN-2', usageSeconds: 60 });
    expect(await store.device(35)).toMatchObject({ serialNumber: 'SN-34', note: 'x', version: 2 });
    expect(await store.device(34)).toMatchObject({ backupCount: 1 });
    expect(await store.device(36)).toMatchObject({ serialNumber: 'last' });
  }),

  rule('a package for another platform, version or extension is not a duplicate', async ({ store }) => {
    const results = await commit(store, [
      addApp('1.0.0', { platform: 'LINUX', extension: 'deb' }),
      addApp('1.0.0', { platform: 'LINUX', extension: 'rpm' }),
      addApp('1.0.0', { platform: 'MACOS', extension: 'dmg' }),
      addApp('1.0.1', { platform: 'LINUX', extension: 'deb' }),
    ]);
    expect(results.map(outcome => outcome.kind)).toEqual(['added', 'added', 'added', 'added']);
  }),

  rule('a set keeps the fields that it does not name, and null clears', async ({ store }) => {
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
      shippedAt: 5,
      receivedAt: 6,
      updatedAt: 4,
    } as const;
    await commit(store, [setDevice(1, all)]);
    expect(await store.device(1)).toMatchObject(all);
    await commit(store, [setDevice(1, { lockReason: null, lockedAt: null, status: 'ACTIVE' })]);
    expect(await store.device(1)).toMatchObject({ ...all, lockReason: null, lockedAt: null, status: 'ACTIVE' });
  }),

  rule('tags are replaced as a whole, and other changes keep them', async ({ store, reopen }) => {
    const query = (name: string, value: string) => queryOf({ tags: [{ name, value }] });
    const found = async (of: Store, name: string, value: string) => (await of.devices(query(name, value))).total;
    await commit(store, [addDevice('A', { tags: { lot: '7', shelf: 'b' } }), addDevice('B')]);
    await commit(store, [setDevice(1, { note: 'n', status: 'LOCKED' }), useDevice(1, 1)]);
    expect((await store.device(1))?.tags).toEqual({ lot: '7', shelf: 'b' });
    await commit(store, [setDevice(1, { tags: { lot: '8', owner: 'x:y' } }), setDevice(2, { tags: { lot: '7' } })]);
    expect((await store.device(1))?.tags).toEqual({ lot: '8', owner: 'x:y' });
    const counts = async (of: Store) =>
      Promise.all([found(of, 'lot', '7'), found(of, 'lot', '8'), found(of, 'shelf', 'b'), found(of, 'owner', 'x:y')]);
    expect(await counts(store)).toEqual([1, 1, 0, 1]);
    await commit(store, [setDevice(1, { tags: {} })]);
    expect((await store.device(1))?.tags).toEqual({});
    expect(await counts(await reopen())).toEqual([1, 0, 0, 0]);
  }),

  rule('usage and backups are counted on the device', async ({ store }) => {
    await commit(store, [addDevice('A'), addDevice('B')], { at: 1 });
    expect(await commit(store, [useDevice(1, 30), useDevice(1, 0)], { at: 10 })).toEqual([
      { kind: 'used', usageCount: 1, usageSeconds: 30, version: 1 },
      { kind: 'used', usageCount: 2, usageSeconds: 30, version: 1 },
    ]);
    expect(await commit(store, [addBackup(1), useDevice(1, 12)], { at: 20 })).toEqual([
      { kind: 'added', number: 1, version: 2 },
      { kind: 'used', usageCount: 3, usageSeconds: 42, version: 2 },
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

  rule(
    'each change of a device but a use raises its version, of a group as well, and a guard holds the version',
    async ({ store }) => {
      await commit(store, [addDevice('A')]);
      await commit(store, [setDevice(1, { note: 'a' }), useDevice(1, 30)]);
      await Promise.all(['b', 'c'].map(note => commit(store, [setDevice(1, { note }), addBackup(1)])));
      expect(await store.device(1)).toMatchObject({ version: 6 });
      const based = (version: number) => [{ kind: 'device', device: 1, status: ['INACTIVE'], version }] as const;
      await expect(commit(store, [setDevice(1, { note: 'd' })], { guards: based(5) })).rejects.toThrow(Conflict);
      await commit(store, [setDevice(1, { note: 'd' })], { guards: based(6) });
      expect(await store.device(1)).toMatchObject({ version: 7, note: 'd' });
    },
  ),
];
