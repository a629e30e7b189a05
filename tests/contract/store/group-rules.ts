import { expect } from 'vitest';
import { Conflict, StoreFailure } from '../../../daemon/store/commit.ts';
import {
  addApp,
  addBackup,
  addDevice,
  addUser,
  commit,
  commitOf,
  everything,
  numbersOf,
  queryOf,
  type Rule,
  rule,
  setDevice,
  setUser,
  useDevice,
} from './fixtures.ts';

/** Rules about concurrent commits, listeners, readers and closing. */
export const groupRules: readonly Rule[] = [
  rule('a refused commit does not undo the others that arrive with it', async ({ store }) => {
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

  rule('a commit that cannot be stored does not undo the others that arrive with it', async ({ store }) => {
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

  rule('of many commits of the same transition at once, exactly one succeeds', async ({ store }) => {
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

  rule('listeners are called before the commit resolves, and not for refused commits', async ({ store }) => {
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

  rule('a listener that throws affects neither the commit nor other listeners', async ({ store }) => {
    let told = 0;
    store.onCommit(() => {
      throw new Error('listener');
    });
    store.onCommit(() => told++);
    expect(await commit(store, [addDevice('A')])).toEqual([{ kind: 'added', number: 1 }]);
    expect(told).toBe(1);
  }),

  rule('a reader sees a large commit completely or not at all', async ({ store }) => {
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
      const { total } = await store.devices(queryOf({ limit: 1, status: ['INACTIVE'] }));
      seen.add(`${first} ${last} ${total}`);
      await new Promise(setImmediate);
    }
    await writing;
    // It may be committed between two reads, but what was seen once must stay.
    const possible = ['false false 0', 'false false 5000', 'false true 5000', 'true true 5000'];
    expect([...seen].filter(moment => !possible.includes(moment))).toEqual([]);
    expect((await store.devices(queryOf({ limit: 1 }))).total).toBe(5000);
    expect(await store.lastEventId()).toBe(5000);
  }),

  rule('acknowledged changes survive a restart', async ({ store, reopen }) => {
    await commit(store, [addDevice('A'), addUser('bob', { role: 'ADMIN' }), addApp('1.0.0')]);
    await commit(store, [setDevice(1, { status: 'ACTIVE', userId: 'u' }), useDevice(1, 3), addBackup(1)]);
    const before = await everything(store);
    expect(await everything(await reopen())).toEqual(before);
  }),

  rule('closing waits for running commits; later ones are refused', async ({ store, reopen }) => {
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

  rule('a working store reports itself ready', async ({ store }) => {
    expect(await store.health()).toEqual({ ready: true, detail: expect.any(String) });
  }),
];
