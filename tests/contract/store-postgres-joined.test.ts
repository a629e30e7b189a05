/** Commits that arrive while another daemon holds the lock of all writes. */
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { Conflict, StoreFailure } from '../../daemon/store/commit.ts';
import type { Store } from '../../daemon/store/store.ts';
import { needsPostgres, openPostgres, PostgresServer } from '../support/postgres.ts';
import { addDevice, addUser, commit, everything, setDevice } from './store/fixtures.ts';

/** Commits of earlier turns of the event loop have joined the transaction by then. */
const turn = () => new Promise(resolve => setImmediate(resolve));

needsPostgres('commits that arrive during the wait for the lock', () => {
  let server: PostgresServer;
  let opened: Awaited<ReturnType<typeof openPostgres>>;
  let store: Store;
  let other: pg.Client;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    opened = await openPostgres(server);
    ({ store } = opened);
    other = await server.connect(opened.database);
    await other.query('BEGIN');
    await other.query('SELECT FROM head FOR UPDATE');
  });
  afterEach(async () => {
    await other.end();
    await opened.cleanup();
  });

  const release = () => other.query('COMMIT');
  const transactions = async (table: string) =>
    (await opened.query(`SELECT count(DISTINCT xmin::text)::int AS count FROM ${table}`))[0]!.count;

  /** Begins a transaction that waits for the lock. */
  async function first<T>(begin: () => Promise<T>): Promise<{ readonly result: Promise<T> }> {
    const result = begin();
    const waits = `SELECT FROM pg_stat_activity WHERE datname = '${opened.database}' AND wait_event_type = 'Lock'`;
    while ((await server.query(waits)).length === 0) await turn();
    return { result };
  }

  it('join its transaction, each in its turn', async () => {
    const { result } = await first(() => commit(store, [addDevice('A')]));
    const joined = [commit(store, [addDevice('B')])];
    await turn();
    joined.push(commit(store, [addDevice('A')]), commit(store, [addUser('bob')]));
    await turn();
    await release();
    expect(await Promise.all([result, ...joined])).toEqual([
      [{ kind: 'added', number: 1 }],
      [{ kind: 'added', number: 2 }],
      [{ kind: 'duplicate', number: 1, status: 'INACTIVE' }],
      [{ kind: 'added', number: 1 }],
    ]);
    expect(await transactions('event')).toBe(1);
  });

  it('see what the daemon with the lock has written', async () => {
    const { result } = await first(() => commit(store, [addUser('bob')]));
    const guards = [{ kind: 'document', name: 'proof-policy', version: 0 }] as const;
    const late = commit(store, [addDevice('A')], { guards });
    late.catch(() => {});
    await turn();
    await other.query(`INSERT INTO document (name, version, value) VALUES ('proof-policy', 1, '{}')`);
    await release();
    await result;
    await expect(late).rejects.toThrow(Conflict);
    expect(await store.device(1)).toBeNull();
  });

  it('are refused without effect on the others', async () => {
    const { result } = await first(() => commit(store, [addDevice('A')]));
    const settled = Promise.allSettled([
      commit(store, [setDevice(9, { note: 'x' })]),
      commit(store, [addDevice('B', { manufacturer: null as unknown as string })]),
      commit(store, [addDevice('C')]),
    ]);
    await turn();
    await release();
    const [refused, unstorable, stored] = await settled;
    expect(await result).toEqual([{ kind: 'added', number: 1 }]);
    expect(refused).toMatchObject({ reason: expect.any(Conflict) });
    expect(unstorable).toMatchObject({ reason: expect.any(StoreFailure) });
    expect(stored).toMatchObject({ value: [{ kind: 'added', number: 2 }] });
  });

  it('are made if the connection that waits is cut', async () => {
    const { result } = await first(() => commit(store, [addDevice('A')]));
    const joined = commit(store, [addDevice('B')]);
    await turn();
    await server.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${opened.database}' AND wait_event_type = 'Lock'`,
    );
    await release();
    expect(await Promise.all([result, joined])).toEqual([
      [{ kind: 'added', number: 1 }],
      [{ kind: 'added', number: 2 }],
    ]);
    expect(await everything(store)).toEqual(await everything(await opened.openAnother()));
  });
});
