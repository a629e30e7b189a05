import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { StoreUnavailable } from '../../daemon/store/commit.ts';
import type { CommitNotice, Store } from '../../daemon/store/store.ts';
import { needsPostgres, openPostgres, PostgresServer } from '../support/postgres.ts';
import { addDevice, addUser, commit, queryOf } from './store/fixtures.ts';

const waitsForStandby = `wait_event = 'SyncRep'`;

const LOCK_NOT_AVAILABLE = '55P03';

/** Repeats the work while a lock of another connection is in its way. */
async function withoutLocks(work: () => Promise<void>): Promise<void> {
  for (;;) {
    const error = await work().catch(error => error as { code?: string });
    if (error === undefined) return;
    if (error.code !== LOCK_NOT_AVAILABLE) throw error;
  }
}

needsPostgres('a PostgreSQL store whose server has lost its standby', () => {
  let server: PostgresServer;
  let opened: Awaited<ReturnType<typeof openPostgres>>;
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

  /** The processes that are in this state. */
  const pids = async (condition: string) =>
    (await server.query(`SELECT pid FROM pg_stat_activity WHERE ${condition}`)).map(({ pid }) => pid as number);
  /** The process that is in this state in the store's database, as soon as there is one: PostgreSQL sends no event. */
  const backend = (condition: string, not = 0): Promise<number> =>
    vi.waitFor(
      async () => {
        const [pid] = await pids(`datname = '${opened.database}' AND pid <> ${not} AND ${condition}`);
        if (pid === undefined) throw new Error(`no process has ${condition}`);
        return pid;
      },
      { timeout: 50_000, interval: 20 },
    );
  const setting = (sql: string) => server.query(sql).then(() => server.query('SELECT pg_reload_conf()'));
  const heals = () => setting('ALTER SYSTEM RESET synchronous_standby_names');
  /** Resolves when commits wait for a standby: later than the setting, and only a commit shows it. */
  const loses = async () => {
    await setting(`ALTER SYSTEM SET synchronous_standby_names = 'absent'`);
    const client = await server.connect();
    const pid = (await client.query('SELECT pg_backend_pid() AS pid')).rows[0].pid as number;
    for (let waits = false; !waits; ) {
      let ended = false;
      const written = client.query(`SELECT pg_logical_emit_message(true, 'devmgr', '')`).finally(() => {
        ended = true;
      });
      while (!ended && !waits) waits = (await pids(`pid = ${pid} AND ${waitsForStandby}`)).length > 0;
      if (waits) await server.query(`SELECT pg_cancel_backend(${pid})`);
      await written;
    }
    await client.end();
  };
  const serials = async () => (await store.devices(queryOf({ descending: false }))).rows.map(row => row.serialNumber);

  describe('acknowledges a commit', () => {
    beforeEach(() => loses());
    afterEach(() => heals());

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
        await heals();
        expect(await writing).toEqual([{ kind: 'added', number: 1 }]);
        expect(await serials()).toEqual(['A']);
        expect(await opened.query('SELECT event, touched FROM head')).toEqual([{ event: '1', touched: '1' }]);
      });
  });

  describe('shows a commit whose wait was cancelled', () => {
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
      await loses();
      writing = commit(store, [addUser('bob')], { response });
      writing.catch(ignore);
      const first = await backend(waitsForStandby);
      await server.query(`SELECT pg_cancel_backend(${first})`);
      await vi.waitFor(() => expect(notices.flatMap(({ users }) => users)).toContain(1), 10_000);
    });
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

    it('does not show it to a handle that is opened before the confirmation', async () => {
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
      await withoutLocks(async () => {
        await admin.query(`ROLLBACK; SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid()`);
        // The state that the standby would have.
        await admin.query(`BEGIN; SET LOCAL session_replication_role = replica; TRUNCATE event, response, "user" CASCADE;
          UPDATE head SET event = 0, "user" = 0, mac = '', seal = NULL; COMMIT`);
      });
      await admin.end();
      await heals();
      await allow(true);
      expect(await commit(other, [addDevice('A')])).toMatchObject([{ kind: 'added', number: 1 }]);
      expect(await writing).toEqual([{ kind: 'added', number: 1 }]);
      await vi.waitFor(() => expect(shown()).toBe(2), 10_000);
      expect((await other.events(all)).map(({ type }) => type).sort()).toEqual(['DEVICE_REGISTERED', 'USER_CREATED']);
    });
  });
});
