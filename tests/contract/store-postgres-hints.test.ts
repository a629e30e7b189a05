/** Commits of another handle: a hint makes them known at once, and the poll finds those whose hint was lost. */
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { Hints } from '../../daemon/store/postgres/hints.ts';
import type { Store } from '../../daemon/store/store.ts';
import { needsPostgres, openPostgres, PostgresServer } from '../support/postgres.ts';
import { addDevice, commit } from './store/fixtures.ts';

const NEVER_MS = 3_600_000;
const POLL_MS = 20;

needsPostgres('two handles on one database', () => {
  let server: PostgresServer;
  let opened: Awaited<ReturnType<typeof openPostgres>> | undefined;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await opened?.cleanup();
    opened = undefined;
  });
  afterAll(() => server?.stop());

  /** Two handles that look this often; the entries that the second one learns of. */
  async function twoHandles(watchMs: number) {
    opened = await openPostgres(server, { watchMs });
    const other = await opened.openAnother();
    const learned: number[] = [];
    other.onCommit(({ lastEventId }) => learned.push(lastEventId));
    return { store: opened.store, other, learned };
  }
  /** Connections for hints: their last statement listens, sends a hint, or asks whether the server is there, which follows after 5 s. */
  const listeners = () =>
    opened!.query(`SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
      AND (query LIKE 'LISTEN%' OR query LIKE '%pg_notify%' OR query = 'SELECT 1')`);
  const bothListen = () => vi.waitFor(async () => expect(await listeners()).toHaveLength(2), 10_000);
  const knows = (learned: readonly number[], id: number) => vi.waitFor(() => expect(learned.at(-1)).toBe(id), 10_000);
  const add = async (store: Store, serial: string) => {
    await commit(store, [addDevice(serial)]);
    return store.lastEventId();
  };

  it('learn of a commit by its hint, without a look in between or a write that confirms it', async () => {
    const { store, other, learned } = await twoHandles(NEVER_MS);
    await bothListen();
    const writes = () => opened!.query(`SELECT xmin FROM meta WHERE name = 'confirmed'`);
    const before = await writes();
    for (const serial of ['A', 'B', 'C']) await knows(learned, await add(store, serial));
    expect(await other.events({ after: 0, limit: 9 })).toHaveLength(3);
    expect(await writes()).toEqual(before);
  });

  it('learn of a commit whose hint was lost by the next look', async () => {
    vi.spyOn(Hints.prototype, 'send').mockReturnValue();
    const { store, learned } = await twoHandles(POLL_MS);
    await knows(learned, await add(store, 'A'));
  });

  it('learn of what was committed while the listening connection was broken, and of what comes later', async () => {
    const { store, learned } = await twoHandles(NEVER_MS);
    await bothListen();
    for (const { pid } of await listeners()) await opened!.query(`SELECT pg_terminate_backend(${pid}, 5000)`);
    await knows(learned, await add(store, 'A'));
    await bothListen();
    await knows(learned, await add(store, 'B'));
  });

  it('close while the server is away', async () => {
    const { store, other } = await twoHandles(POLL_MS);
    await server.kill();
    await Promise.all([store.close(), other.close()]);
    await server.run();
  });
});
