import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { StoreFailure, StoreUnavailable } from '../../daemon/store/commit.ts';
import { PostgresMaintenance } from '../../daemon/store/postgres/index.ts';
import type { CommitNotice, Store } from '../../daemon/store/store.ts';
import { needsPostgres, openPostgres, PostgresServer } from '../support/postgres.ts';
import { journalKey } from '../support/sqlite.ts';
import { addDevice, addUser, commit, commitOf, queryOf, setDevice, useDevice } from './store/fixtures.ts';

type Opened = Awaited<ReturnType<typeof openPostgres>>;
const turn = () => new Promise(resolve => setImmediate(resolve));

needsPostgres('a PostgreSQL store whose server', () => {
  let server: PostgresServer;
  let opened: Opened;
  let store: Store;
  beforeAll(async () => {
    server = await PostgresServer.start({ durable: true });
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    opened = await openPostgres(server, { patienceMs: 20_000 });
    ({ store } = opened);
  });
  afterEach(() => opened.cleanup());

  /** The process that is in this state in the store's database, as soon as there is one. */
  async function backend(condition: string, not = 0): Promise<number> {
    for (;;) {
      const rows = await server.query(
        `SELECT pid FROM pg_stat_activity WHERE datname = '${opened.database}' AND pid <> ${not} AND ${condition}`,
      );
      if (rows.length > 0) return rows[0]!.pid as number;
    }
  }
  const setting = (sql: string) => server.query(sql).then(() => server.query('SELECT pg_reload_conf()'));
  const waitsForStandby = `wait_event = 'SyncRep'`;
  const serials = async () => (await store.devices(queryOf({ descending: false }))).rows.map(row => row.serialNumber);

  describe('has no standby any more acknowledges a commit', () => {
    beforeEach(() => setting(`ALTER SYSTEM SET synchronous_standby_names = 'absent'`));
    afterEach(() => setting('ALTER SYSTEM RESET synchronous_standby_names'));

    for (const [what, cut] of [
      ['was cancelled', 'pg_cancel_backend'],
      ['was terminated', 'pg_terminate_backend'],
    ] as const)
      it(`not when its wait ${what}, but when a later write is durable`, async () => {
        let acknowledged = false;
        const writing = commit(store, [addDevice('A')]).finally(() => {
          acknowledged = true;
        });
        const first = await backend(waitsForStandby);
        await server.query(`SELECT ${cut}(${first})`);
        // It looked for its entry, and waits for the standby once more.
        await backend(`${waitsForStandby} AND query = 'COMMIT'`, first);
        expect(acknowledged).toBe(false);
        await setting('ALTER SYSTEM RESET synchronous_standby_names');
        expect(await writing).toEqual([{ kind: 'added', number: 1 }]);
        expect(await serials()).toEqual(['A']);
        expect(await opened.query('SELECT event, touched FROM head')).toEqual([{ event: '1', touched: '1' }]);
      });
  });

  describe('shows a commit whose wait for the standby was cancelled', () => {
    const response = {
      id: 'a',
      holder: '1',
      digest: 'd',
      expiresAt: 9e15,
      maxTotal: 1,
      make: () => ({ status: 200, body: Buffer.from('carried out') }),
    };
    const all = { after: 0, limit: 9 };
    const ignore = () => {};
    let other: Store;
    let notices: CommitNotice[];
    let writing: ReturnType<typeof commit>;

    /** Entry 1 is visible on the primary alone, and the other handle has found it. */
    beforeEach(async () => {
      other = await opened.openAnother();
      notices = [];
      other.onCommit(notice => void notices.push(notice));
      await setting(`ALTER SYSTEM SET synchronous_standby_names = 'absent'`);
      writing = commit(store, [addUser('bob')], { response });
      writing.catch(ignore);
      const first = await backend(waitsForStandby);
      await server.query(`SELECT pg_cancel_backend(${first})`);
      await vi.waitFor(() => expect(notices.flatMap(({ users }) => users)).toContain(1), 10_000);
    });
    const heals = () => setting('ALTER SYSTEM RESET synchronous_standby_names');
    afterEach(async () => {
      await heals();
      await writing.catch(ignore);
    });
    const shown = () => Math.max(...notices.map(({ lastEventId }) => lastEventId));
    const hidden = async (store: Store) => {
      const reads = [store.events(all), store.lastEventId(), store.journalHead(), store.response('a', 0)];
      for (const read of await Promise.allSettled(reads))
        expect(read).toMatchObject({ status: 'rejected', reason: expect.any(StoreUnavailable) });
      expect(await store.events({ ...all, through: 0 })).toEqual([]);
    };

    it('clears its cache immediately, and announces the entry when the standby is back', async () => {
      expect(shown()).toBe(0);
      // A cancelled confirmation confirms nothing.
      const touching = await backend(`${waitsForStandby} AND pid NOT IN (SELECT pid FROM pg_locks JOIN pg_class c
        ON relation = c.oid WHERE relname = 'head')`);
      await server.query(`SELECT pg_cancel_backend(${touching})`);
      await backend(waitsForStandby, touching);
      expect(shown()).toBe(0);
      await heals();
      await vi.waitFor(() => expect(shown()).toBe(1), 10_000);
      expect(await writing).toEqual([{ kind: 'added', number: 1 }]);
    });

    it('does not show the entry, and does not repeat the response, until the standby is back', async () => {
      await hidden(other);
      await heals();
      expect(await other.events(all)).toMatchObject([{ id: 1, type: 'USER_CREATED' }]);
      expect(await other.journalHead()).toMatchObject({ id: 1 });
      expect(Buffer.from((await other.response('a', 0))!.body).toString()).toBe('carried out');
    });

    it('does not show it to a handle that is opened meanwhile', async () => {
      const late = await opened.openAnother();
      expect((await late.user(1))?.username).toBe('bob');
      await hidden(late);
      const learned: number[] = [];
      late.onCommit(({ lastEventId }) => learned.push(lastEventId));
      await heals();
      await vi.waitFor(() => expect(learned.at(-1)).toBe(1), 10_000);
      expect(await late.lastEventId()).toBe(1);
    });

    it('shows no id that is assigned again after the primary is lost', async () => {
      const allow = (how: boolean) =>
        server.query(`SET synchronous_commit = local; ALTER DATABASE ${opened.database} ALLOW_CONNECTIONS ${how}`);
      const admin = await server.connect(opened.database);
      await admin.query('SET synchronous_commit = local; SET lock_timeout = 500');
      await allow(false);
      // A connection that was just being made may have locks and wait for the standby: then once more.
      await vi.waitFor(async () => {
        await admin.query(`ROLLBACK; SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid()`);
        // What the standby would have.
        await admin.query(`BEGIN; SET LOCAL session_replication_role = replica; TRUNCATE event, response, "user";
          UPDATE head SET event = 0, "user" = 0, mac = '', seal = NULL; COMMIT`);
      }, 20_000);
      await admin.end();
      await heals();
      await allow(true);
      expect(await commit(other, [addDevice('A')])).toMatchObject([{ kind: 'added', number: 1 }]);
      expect(await writing).toEqual([{ kind: 'added', number: 1 }]);
      await vi.waitFor(() => expect(shown()).toBe(2), 10_000);
      expect((await other.events(all)).map(({ type }) => type).sort()).toEqual(['DEVICE_REGISTERED', 'USER_CREATED']);
    });
  });

  it('ends its sessions carries out each commit exactly once', async () => {
    const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${opened.database}' AND pid <> pg_backend_pid()`;
    let over = false;
    const cutting = (async () => {
      for (let i = 0; i < 15 && !over; i++) await server.query(cut);
    })();
    const results = await Promise.allSettled(
      Array.from({ length: 300 }, async (_, i) => {
        for (let left = i % 100; left > 0; left--) await turn();
        return commit(store, [addDevice(`S${i}`)]);
      }),
    );
    over = true;
    await cutting;
    const added = results.flatMap((result, i) => (result.status === 'fulfilled' ? [`S${i}`] : []));
    for (const result of results) if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(StoreFailure);
    const found = await store.devicesBySerial(Array.from({ length: 300 }, (_, i) => `S${i}`));
    expect([...found.keys()].sort()).toEqual(added.sort());
    expect(await store.lastEventId()).toBe(found.size);
  });

  it('crashes loses nothing that was acknowledged, and is used again when it is back', async () => {
    const acknowledged: string[] = [];
    let crashed = false;
    const writers = Array.from({ length: 20 }, async (_, writer) => {
      for (let i = 0; !crashed; i++) {
        const serial = `W${writer}-${i}`;
        await commit(store, [addDevice(serial)]).then(
          () => acknowledged.push(serial),
          () => {},
        );
      }
    });
    while (acknowledged.length < 200) await turn();
    await server.kill();
    crashed = true;
    await server.run();
    await Promise.all(writers);
    const found = await store.devicesBySerial(acknowledged);
    expect(acknowledged.filter(serial => !found.has(serial))).toEqual([]);
    const { total } = await store.devices(queryOf({ limit: 1 }));
    expect(await commit(store, [addDevice('after')])).toEqual([{ kind: 'added', number: total + 1 }]);
    expect((await store.health()).ready).toBe(true);
  });

  it('frees the lock of a node that stands still, whose commit is then carried out once', async () => {
    let made = 0;
    const make = () => {
      // Longer than idle_in_transaction_session_timeout; the thread stands still, as if the process was stopped.
      if (made++ === 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2500);
      return null;
    };
    const response = { id: 'a', holder: '1', digest: 'd', expiresAt: 9e15, maxTotal: 1, make };
    expect(await commit(store, [addDevice('A')], { response })).toEqual([{ kind: 'added', number: 1 }]);
    expect(made).toBe(2);
    expect(await store.lastEventId()).toBe(1);
  });

  it('was replaced by one that lacks an acknowledged entry is refused', async () => {
    await commit(store, [addDevice('A')]);
    await commit(store, [setDevice(1, { note: 'acknowledged' })]);
    // What an asynchronous standby would have after a failover.
    await opened.query(`SET session_replication_role = replica; DELETE FROM event WHERE id = 2; UPDATE device SET note = NULL;
      UPDATE head SET event = 1, mac = (SELECT mac FROM event WHERE id = 1);
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`);
    await expect(commit(store, [addDevice('B')])).rejects.toThrow(/lacks journal entry 2, which was acknowledged/);
    expect(await store.health()).toMatchObject({
      ready: false,
      detail: expect.stringContaining('lacks journal entry 2'),
    });
    expect(await opened.query('SELECT count(*) FROM device')).toEqual([{ count: '1' }]);
  });

  it('has another time than this machine gets no commits', async () => {
    for (const skew of [-6000, 6000]) {
      const off = await opened.openAnother({ now: () => Date.now() + skew });
      await expect(commit(off, [addUser('bob')])).rejects.toThrow(/clock of this machine is 6 s off/);
      expect((await off.health()).ready).toBe(false);
    }
    const near = await opened.openAnother({ now: () => Date.now() + 3000 });
    expect(await commit(near, [addUser('bob')])).toEqual([{ kind: 'added', number: 1 }]);
  });

  it('has an earlier time than the last commit writes that of the last commit', async () => {
    await commit(store, [addDevice('A')], { at: 100 });
    const results = await store.commit(commitOf([addDevice('B'), useDevice(1, 3)], { at: 50 }));
    expect(results).toEqual([
      { kind: 'added', number: 2, at: 100 },
      { kind: 'used', usageCount: 1, usageSeconds: 3, at: 100 },
    ]);
    expect((await store.events({ after: 0, limit: 9 })).map(({ at }) => at)).toEqual([100, 100, 100]);
    const [first, second] = [await store.device(1), await store.device(2)];
    expect(second?.createdAt).toBe(100);
    expect(second!.activationCodeExpiresAt - first!.activationCodeExpiresAt).toBe(50);
    // The entry proves the code with the time until which it is valid.
    const maintenance = new PostgresMaintenance({
      url: server.url(opened.database),
      env: {},
      journalKeys: async () => [journalKey],
    });
    expect((await maintenance.check()).problems).toEqual([]);
  });

  it('closes connections answers reads through new ones', async () => {
    await commit(store, [addDevice('A')]);
    await store.device(1);
    await server.query(
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${opened.database}'`,
    );
    expect((await store.device(1))?.serialNumber).toBe('A');
  });
});
