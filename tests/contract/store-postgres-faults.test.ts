import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { subjects } from '../../daemon/start/subjects.ts';
import { StoreFailure } from '../../daemon/store/commit.ts';
import { loginFrom } from '../../daemon/store/postgres/login.ts';
import { databaseMaintenance } from '../../daemon/store/postgres/maintenance.ts';
import { DatabaseSession } from '../../daemon/store/postgres/session.ts';
import type { Store } from '../../daemon/store/store.ts';
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
    // Of two reads that are sent together, both fail: an error that is not awaited would end the daemon, and fails this run.
    await expect(store.personsByKey(['alice'])).rejects.toThrow(StoreFailure);
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

  it('keeps the lock of a node that is busy with its transaction for longer than the server waits for one that stands still', async () => {
    let made = 0;
    const make = () => {
      made++;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
      return null;
    };
    const response = { holder: '1', digest: 'd', expiresAt: 9e15, maxTotal: 100, make };
    const commits = Array.from({ length: 48 }, (_, n) =>
      commit(store, [addDevice(`S${n}`)], { response: { ...response, id: `${n}` } }),
    );
    expect(await Promise.all(commits)).toHaveLength(48);
    expect(made).toBe(48);
  });

  it('was replaced by one that lacks an acknowledged entry is refused', async () => {
    await commit(store, [addDevice('A')]);
    await commit(store, [setDevice(1, { note: 'acknowledged' })]);
    // The state of an asynchronous standby after a failover.
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
      { kind: 'used', usageCount: 1, usageSeconds: 3, version: 1, at: 100 },
    ]);
    expect((await store.events({ after: 0, limit: 9 })).map(({ at }) => at)).toEqual([100, 100, 100]);
    const [first, second] = [await store.device(1), await store.device(2)];
    expect(second?.createdAt).toBe(100);
    expect(second!.activationCodeExpiresAt - first!.activationCodeExpiresAt).toBe(50);
    // The entry proves the code with the time until which it is valid.
    const maintenance = databaseMaintenance({
      subjects,
      url: server.url(opened.database),
      env: {},
      journalKeys: async () => [journalKey],
    });
    expect((await maintenance.check()).problems).toEqual([]);
  });

  it('does not answer on any connection any more is asked through new ones, for reads and commits', async () => {
    const other = await opened.openAnother({ answerMs: 1000 });
    await commit(other, [addDevice('A')]);
    await other.device(1);
    const where = `datname = '${opened.database}' AND pid <> pg_backend_pid()`;
    const pids = (await server.query(`SELECT pid FROM pg_stat_activity WHERE ${where}`)).map(
      ({ pid }) => pid as number,
    );
    expect(pids.length).toBeGreaterThan(1);
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    try {
      expect((await other.device(1))?.serialNumber).toBe('A');
      expect(await commit(other, [addDevice('B')])).toMatchObject([{ kind: 'added', number: 2 }]);
      expect((await other.devices(queryOf({ limit: 1 }))).total).toBe(2);
      await expect.poll(() => other.behind()).toBeLessThan(1000);
      // Connections to processes that stand still are cut, so that the daemon can stop.
      await other.close();
    } finally {
      for (const pid of pids) process.kill(pid, 'SIGCONT');
    }
  });

  it('answers the last statement and then stands still does not keep a session from closing', async () => {
    const login = loginFrom({ url: server.url(opened.database), env: {} });
    const session = await DatabaseSession.open(login, { idleInTransactionMs: 1000, lockMs: 1000, answerMs: 500 });
    const { rows } = await session.run('SELECT pg_backend_pid() AS pid');
    const pid = rows[0]!.pid as number;
    await session.run('LISTEN last');
    // The notification is in the same packet as the end of the answer, so the process stops before it can read that the session ends.
    session.onNotification(() => void process.kill(pid, 'SIGSTOP'));
    try {
      const answered = session.run('NOTIFY last');
      const closed = session.close();
      expect(await answered).toMatchObject({ tag: 'NOTIFY' });
      await closed;
    } finally {
      process.kill(pid, 'SIGCONT');
    }
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
