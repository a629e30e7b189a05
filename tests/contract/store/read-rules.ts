import { expect } from 'vitest';
import {
  addApp,
  addBackup,
  addDevice,
  addUser,
  commit,
  numbersOf,
  type Rule,
  rule,
  setDevice,
  setUser,
  useDevice,
} from './fixtures.ts';

const window = { descending: false, offset: 0, limit: 100 };

/** Rules about all reads except lists of devices. */
export const readRules: readonly Rule[] = [
  rule('serial numbers are looked up exactly, many at once', async ({ store }) => {
    const serials = Array.from({ length: 3000 }, (_, i) => `S-${i}`);
    await commit(
      store,
      serials.filter((_, i) => i % 2 === 0).map(serial => addDevice(serial)),
    );
    await commit(store, [setDevice(1, { status: 'LOCKED' })]);
    const found = await store.devicesBySerial([...serials, 's-0', 'S-', '']);
    expect(found.size).toBe(1500);
    expect(found.get('S-0')).toEqual({ number: 1, status: 'LOCKED', proof: null });
    expect(found.get('S-2')).toEqual({ number: 2, status: 'INACTIVE', proof: null });
    expect(found.has('S-1') || found.has('s-0')).toBe(false);
    expect((await store.devicesBySerial([])).size).toBe(0);
  }),

  rule('users are found by number and by exact name, with all their fields', async ({ store }) => {
    const bob = { passwordHash: '$scrypt$1', role: 'VIEWER', email: 'bob@example.com', disabled: true } as const;
    await commit(store, [addUser('Bob', bob)], { at: 3 });
    const record = { ...bob, number: 1, username: 'Bob', userKey: 'bob', createdAt: 3, tokenEpoch: 0 };
    expect(await store.user(1)).toEqual(record);
    expect(await store.userByName('Bob')).toEqual(record);
    expect(await store.userByName('bob')).toBeNull();
    expect(await store.user(2)).toBeNull();
    await commit(store, [setUser(1, { email: null, disabled: false, role: 'ADMIN', passwordHash: 'x' })]);
    expect(await store.user(1)).toEqual({ ...record, email: null, disabled: false, role: 'ADMIN', passwordHash: 'x' });
  }),

  rule('administrators are the enabled users with the role ADMIN', async ({ store }) => {
    const role = 'ADMIN' as const;
    await commit(store, [addUser('a', { role }), addUser('b'), addUser('c', { role, disabled: true })]);
    expect((await store.admins()).map(user => user.username)).toEqual(['a']);
    await commit(store, [setUser(2, { role }), setUser(1, { disabled: true })]);
    expect((await store.admins()).map(user => user.username)).toEqual(['b']);
  }),

  rule('users are sorted by creation, equal times by number', async ({ store, raisesTimes }) => {
    for (const [name, at] of [
      ['a', 5],
      ['b', 3],
      ['c', 5],
      ['d', 9],
    ] as const)
      await commit(store, [addUser(name)], { at });
    const names = async (descending: boolean, offset: number, limit: number) => {
      const { rows, total } = await store.users({ descending, offset, limit });
      expect(total).toBe(4);
      return rows.map(user => user.username).join('');
    };
    const ascending = raisesTimes ? 'abcd' : 'bacd';
    const descending = [...ascending].reverse().join('');
    expect(await names(false, 0, 10)).toBe(ascending);
    expect(await names(true, 0, 10)).toBe(descending);
    expect(await names(true, 1, 2)).toBe(descending.slice(1, 3));
    expect(await names(true, 4, 2)).toBe('');
  }),

  rule(
    'application versions are read back and listed by platform, the latest upload last',
    async ({ store, raisesTimes }) => {
      const full = { versionName: 'First', minSupportVersion: '0.9', forceUpdate: true, changelog: null } as const;
      await commit(store, [addApp('2.0.0', full)], { at: 7 });
      await commit(store, [addApp('1.0.0'), addApp('1.0.0', { platform: 'IOS', extension: 'ipa' })], { at: 5 });
      expect(await store.app(1)).toEqual({
        ...full,
        number: 1,
        platform: 'ANDROID',
        version: '2.0.0',
        fileName: 'devmgr-2.0.0.apk',
        extension: 'apk',
        fileSize: 3,
        sha256: 'a'.repeat(64),
        uploadedBy: 'admin',
        createdAt: 7,
        blob: 'blob-of-ANDROID-2.0.0',
      });
      expect((await store.app(2))?.forceUpdate).toBe(false);
      expect(await store.app(4)).toBeNull();
      expect((await store.appsOf('ANDROID')).map(app => app.number)).toEqual(raisesTimes ? [1, 2] : [2, 1]);
      expect(await store.appsOf('LINUX')).toEqual([]);
      const ios = await store.apps({ ...window, platform: 'IOS' });
      expect([numbersOf(ios.rows), ios.total]).toEqual([[3], 1]);
      const page = await store.apps({ descending: true, offset: 1, limit: 1 });
      expect([numbersOf(page.rows), page.total]).toEqual([[raisesTimes ? 2 : 3], 3]);
    },
  ),

  rule('backups belong to their device', async ({ store, raisesTimes }) => {
    await commit(store, [addDevice('A'), addDevice('B')], { at: 1 });
    await commit(store, [addBackup(1, { note: 'n' }), addBackup(2)], { at: 9 });
    await commit(store, [addBackup(1, { fileSize: 6 })], { at: 4 });
    expect(await store.backup(1)).toEqual({
      number: 1,
      device: 1,
      fileName: 'key.bak',
      fileSize: 5,
      sha256: 'b'.repeat(64),
      note: 'n',
      createdAt: 9,
      blob: 'backup-of-1',
    });
    expect(await store.backup(9)).toBeNull();
    const { rows, total } = await store.backups(1, window);
    expect([numbersOf(rows), total]).toEqual([raisesTimes ? [1, 3] : [3, 1], 2]);
    const [last] = (await store.backups(1, { descending: true, offset: 0, limit: 1 })).rows;
    expect(last?.number).toBe(raisesTimes ? 3 : 1);
    expect(await store.backups(7, window)).toEqual({ rows: [], total: 0 });
  }),

  rule('known blobs are those that records refer to', async ({ store }) => {
    await commit(store, [addDevice('A'), addApp('1.0.0', { blob: 'x' })]);
    await commit(store, [addBackup(1, { blob: 'y' })]);
    expect(await store.knownBlobs(['x', 'y', 'z', 'X'])).toEqual(new Set(['x', 'y']));
    expect(await store.knownBlobs([])).toEqual(new Set());
  }),

  rule('the journal is read from any position, with any filter, in its order', async ({ store, raisesTimes }) => {
    await commit(store, [addDevice('A'), addDevice('B'), addUser('bob')], { at: 10, actor: 'x' });
    await commit(store, [useDevice(1, 1), useDevice(2, 1)], { at: 5, actor: 'y' });
    await commit(store, [setDevice(1, { note: 'n' })], { at: 20, actor: null });
    const ids = async (filter: Partial<Parameters<typeof store.events>[0]>) =>
      (await store.events({ after: 0, limit: 100, ...filter })).map(event => event.id);
    expect(await ids({})).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await ids({ after: 2, limit: 3 })).toEqual([3, 4, 5]);
    expect(await ids({ after: 6 })).toEqual([]);
    expect(await ids({ after: 600 })).toEqual([]);
    expect(await ids({ types: ['DEVICE_USED', 'USER_CREATED'] })).toEqual([3, 4, 5]);
    expect(await ids({ types: [] })).toEqual([]);
    expect(await ids({ types: ['DEVICE_USED'], limit: 1, after: 4 })).toEqual([5]);
    expect(await ids({ device: 1 })).toEqual([1, 4, 6]);
    expect(await ids({ before: 4 })).toEqual([3, 2, 1]);
    expect(await ids({ before: 600, limit: 2 })).toEqual([6, 5]);
    expect(await ids({ before: 6, after: 2 })).toEqual([5, 4, 3]);
    expect(await ids({ before: 6, device: 1 })).toEqual([4, 1]);
    expect(await ids({ before: Number.POSITIVE_INFINITY, types: ['DEVICE_USED'], limit: 1 })).toEqual([5]);
    expect(await ids({ before: 0 })).toEqual([]);
    expect(await ids({ through: 3 })).toEqual([1, 2, 3]);
    expect(await ids({ before: 5, through: 3, limit: 2 })).toEqual([3, 2]);
    expect(await ids({ through: 4, device: 1 })).toEqual([1, 4]);
    expect(await ids({ through: 0 })).toEqual([]);
    expect(await ids({ actor: 'y' })).toEqual([4, 5]);
    expect(await ids({ from: 10 })).toEqual(raisesTimes ? [1, 2, 3, 4, 5, 6] : [1, 2, 3, 6]);
    expect(await ids({ from: 11 })).toEqual([6]);
    expect(await ids({ from: 5, to: 10, device: 2 })).toEqual([2, 5]);
    expect(await store.lastEventId()).toBe(6);
  }),

  rule('a filter finds rare entries in a long journal, up to the limit', async ({ store }) => {
    // In portions: PostgreSQL ends a transaction that takes too long, on a busy machine too.
    const addTo = async (end: number) => {
      for (let from = end - 12_000; from < end; from += 3_000)
        await commit(
          store,
          Array.from({ length: 3_000 }, (_, i) => addDevice(`S${from + i}`)),
        );
    };
    await addTo(12_000);
    await commit(store, [setDevice(1, { note: 'a' })]);
    await addTo(24_000);
    await commit(store, [setDevice(2, { note: 'b' }), setDevice(3, { note: 'c' })]);
    const types = ['DEVICE_UPDATED'] as const;
    const found = async (limit: number, after = 0) =>
      (await store.events({ after, limit, types })).map(event => [event.id, event.device]);
    expect(await found(2)).toEqual([
      [12_001, 1],
      [24_002, 2],
    ]);
    expect(await found(10)).toHaveLength(3);
    expect(await found(10, 24_002)).toEqual([[24_003, 3]]);
    const last = await store.events({ after: 0, before: 24_003, limit: 2, types });
    expect(last.map(event => event.id)).toEqual([24_002, 12_001]);
  }),

  rule('entries beside devices are found in both directions, whatever surrounds them', async ({ store }) => {
    const types = ['USER_CREATED', 'USER_UPDATED'] as const;
    const uses = () => Array.from({ length: 300 }, () => useDevice(1, 1));
    const rename = (email: string) => setUser(1, { email });
    await commit(store, [addDevice('A'), addUser('bob')]);
    await commit(store, [...uses(), rename('a')], { actor: 'carol' });
    await commit(store, [...uses(), rename('b')]);
    const ids = async (filter: Partial<Parameters<typeof store.events>[0]>) =>
      (await store.events({ after: 0, limit: 10, types, besideDevices: true, ...filter })).map(event => event.id);
    expect(await ids({})).toEqual([2, 303, 604]);
    expect(await ids({ before: 604 })).toEqual([303, 2]);
    expect(await ids({ after: 2, through: 303 })).toEqual([303]);
    expect(await ids({ before: 1000, limit: 1 })).toEqual([604]);
    expect(await ids({ actor: 'carol' })).toEqual([303]);
    expect(await ids({ types: ['USER_CREATED'] })).toEqual([2]);
    expect(await ids({ types: [] })).toEqual([]);
  }),

  rule('the journal of a device with many entries is read in both directions', async ({ store }) => {
    await commit(store, [addDevice('A'), addDevice('B')]);
    const uses = (count: number) => Array.from({ length: count }, () => useDevice(1, 1));
    await commit(store, [...uses(10_500), setDevice(1, { note: 'a' })]);
    await commit(store, [...uses(10_500), setDevice(2, { note: 'b' })]);
    const ids = async (filter: Partial<Parameters<typeof store.events>[0]>) =>
      (await store.events({ after: 0, limit: 3, device: 1, ...filter })).map(event => event.id);
    const types = ['DEVICE_UPDATED', 'DEVICE_REGISTERED'] as const;
    expect(await ids({ types })).toEqual([1, 10_503]);
    expect(await ids({ types, before: 30_000 })).toEqual([10_503, 1]);
    expect(await ids({ after: 10_501 })).toEqual([10_502, 10_503, 10_504]);
    expect(await ids({ before: 10_504 })).toEqual([10_503, 10_502, 10_501]);
    expect(await ids({ device: 3 })).toEqual([]);
  }),

  rule('an empty store returns nothing', async ({ store }) => {
    expect(await store.lastEventId()).toBe(0);
    expect(await store.events({ after: 0, limit: 5 })).toEqual([]);
    expect(await store.users(window)).toEqual({ rows: [], total: 0 });
    expect(await store.apps(window)).toEqual({ rows: [], total: 0 });
    expect(await store.admins()).toEqual([]);
    expect(await store.userByName('')).toBeNull();
  }),
];
