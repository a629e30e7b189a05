/** Work that one daemon of a database does at a time: the locks of one daemon share a connection. */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { poll } from '../../src/delivery/wait.ts';
import { needsPostgres, openPostgres, PostgresServer } from '../support/postgres.ts';

/** The first number of the advisory locks of works. */
const WORKS = 0x44764d77;

needsPostgres('shared work in PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server?.stop());

  /** Two handles of a database, and the connections that have locks of works. */
  async function openTwo() {
    const opened = await openPostgres(server);
    onTestFinished(opened.cleanup);
    const handles = [opened.store, await opened.openAnother()].map(store => store.sharedWork!);
    const database = '(SELECT oid FROM pg_database WHERE datname = current_database())';
    const locks = `SELECT DISTINCT pid FROM pg_locks WHERE locktype = 'advisory' AND classid = ${WORKS} AND database = ${database}`;
    const lockers = async () => (await opened.query(locks)).map(({ pid }) => pid as number);
    return { one: handles[0]!, two: handles[1]!, lockers, query: opened.query };
  }
  const until = (look: () => Promise<boolean>) =>
    poll(async () => (await look()) || null, { everyMs: 20, forMs: 10_000 });

  test('a daemon has the locks of all its works on one connection, which ends with the last of them', async () => {
    const { one, two, lockers } = await openTwo();
    const [webhooks, loans] = await Promise.all([one.take('webhooks'), one.take('loans')]);
    expect([webhooks, loans]).not.toContain(null);
    expect(await lockers()).toHaveLength(1);
    expect(await one.take('loans')).toBeNull();
    expect(await two.take('loans')).toBeNull();
    expect(await lockers()).toHaveLength(1);

    await loans!.release();
    expect(webhooks!.lost.aborted).toBe(false);
    expect(await two.take('webhooks')).toBeNull();
    const taken = await two.take('loans');
    expect(taken).not.toBeNull();
    expect(await lockers()).toHaveLength(2);
    await webhooks!.release();
    await until(async () => (await lockers()).length === 1);
    await taken!.release();
    await until(async () => (await lockers()).length === 0);
    expect(await one.take('webhooks')).not.toBeNull();
  });

  test('a daemon that loses the connection learns that it has lost all its works, and can take them again', async () => {
    const { one, two, lockers, query } = await openTwo();
    const held = [await one.take('webhooks'), await one.take('loans')];
    const [pid] = await lockers();
    await query(`SELECT pg_terminate_backend(${pid})`);
    await until(async () => held.every(work => work!.lost.aborted));
    const taken = await two.take('webhooks');
    expect(taken).not.toBeNull();

    for (const work of held) await work!.release();
    expect(await one.take('webhooks')).toBeNull();
    expect(await one.take('loans')).not.toBeNull();
    await taken!.release();
    expect(await one.take('webhooks')).not.toBeNull();
  });
});
