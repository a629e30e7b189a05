/** Single-use codes that several nodes share through one database. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { second } from '../support/clock.ts';
import { data } from '../support/fleet.ts';
import { openNodes } from '../support/limit-stores.ts';
import { needsPostgres, PostgresServer } from '../support/postgres.ts';
import { exchange, newCode } from '../support/sign-in-codes.ts';
import { openStream } from '../support/stream-client.ts';
import { startTwoDaemons } from '../support/two-daemons.ts';

needsPostgres('single-use codes in PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server?.stop());

  test('a code that one node has made opens a session at another, and one of 20 exchanges at both wins', async () => {
    const daemons = await startTwoDaemons(server);
    const { one, two } = daemons;
    try {
      const user = await one.user('dora', 'DEALER');
      const code = await newCode(one, 'SESSION', user.token);
      const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => exchange(i % 2 ? one : two, code)));
      expect(answers.map(answer => answer.code).sort((a, b) => a - b)).toEqual([200, ...new Array(19).fill(1004)]);
      const stream = await openStream(two.url, { code: await newCode(one, 'STREAM', user.token) });
      const later = await newCode(one, 'SESSION', user.token);
      data(await one.call('PUT', `/api/users/${user.id}`, { disabled: true }));
      expect((await exchange(two, later)).code).toBe(1004);
      expect((await stream.closed).code).toBe(4401);
    } finally {
      await daemons.stop();
    }
  });

  test('a code ends by the clock of the server, of several nodes one gets it, and new codes remove expired ones', async () => {
    const { nodes, advance, query } = await openCodes();
    const [one, two] = [nodes[0]!, nodes[1]!];
    for (const digest of ['early', 'late']) await one.put(digest, `{"of":"${digest}"}`, 30 * second);
    await advance(29 * second);
    const taken = await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 ? one : two).take('early')));
    expect(taken.filter(session => session !== null)).toEqual(['{"of":"early"}']);
    await advance(2 * second);
    expect(await query('SELECT digest FROM sign_in_code')).toEqual([{ digest: 'late' }]);
    await two.put('next', '{}', 30 * second);
    expect(await query('SELECT digest FROM sign_in_code')).toEqual([{ digest: 'next' }]);
    await one.put('expires', '{}', 30 * second);
    await advance(31 * second);
    expect(await two.take('expires')).toBeNull();
  });

  async function openCodes() {
    const { clock, stores, query } = await openNodes(server, 2);
    return { nodes: stores.map(({ codes }) => codes!), advance: clock.advance, query };
  }
});
