/** `npm run fuzz` tries 10,000 histories on each engine. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tryPersons, tryPersonsOnNodes } from '../fuzz/persons.ts';
import { needsPostgres, PostgresServer } from '../support/postgres.ts';

describe.each([false, true])('histories of persons, with a delay of leavers: %s', isDelayed => {
  const histories = { seed: Date.now() % 1_000_000_000, count: 30, isDelayed };

  it('on SQLite: no one holds a key of another person, and no one who left an unlocked one', async () => {
    expect(await tryPersons(histories)).toEqual([]);
  });

  needsPostgres('with three nodes', () => {
    let server: PostgresServer;
    beforeAll(async () => {
      server = await PostgresServer.start();
    });
    afterAll(() => server?.stop());

    it('on PostgreSQL', async () => {
      expect(await tryPersonsOnNodes(server, histories)).toEqual([]);
    });
  });
});
