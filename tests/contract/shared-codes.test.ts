/** Single-use codes that several nodes share through one database. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SingleUseCodes } from '../../daemon/store/short-lived.ts';
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

  test('new codes remove expired ones of all nodes', async () => {
    const { clock, stores, query } = await openNodes(server, 2);
    const [one, two] = stores.map(({ shortLived }) => shortLived!.codes) as [SingleUseCodes, SingleUseCodes];
    await one.put('late', '{}', 30 * second);
    await clock.advance(31 * second);
    expect(await query('SELECT digest FROM sign_in_code')).toEqual([{ digest: 'late' }]);
    await two.put('next', '{}', 30 * second);
    expect(await query('SELECT digest FROM sign_in_code')).toEqual([{ digest: 'next' }]);
  });
});
