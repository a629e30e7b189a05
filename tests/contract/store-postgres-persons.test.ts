/** The journal in PostgreSQL has no names of persons: what it shows is opened with the rows of the persons. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isEndedHere } from '../../daemon/people/decisions.ts';
import { subjects } from '../../daemon/start/subjects.ts';
import { databaseMaintenance } from '../../daemon/store/postgres/maintenance.ts';
import { migrations } from '../../daemon/store/postgres/migrations.ts';
import { needsPostgres, openPostgres, PostgresServer } from '../support/postgres.ts';
import { journalKey } from '../support/sqlite.ts';
import { credentialFrauds, issueCredentials } from './store/credential-life.ts';
import { expectedNames, liveOnce, secretNames, shownNames } from './store/person-life.ts';

needsPostgres('the journal of a registry in PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server?.stop());

  it('has no name of a person, shows the names as they were, and proves the owners of devices', async () => {
    const { store, database, query, cleanup } = await openPostgres(server);
    await liveOnce(store);
    const journal = JSON.stringify(await query('SELECT * FROM event'));
    expect(journal).toContain('DEVICE_ACTIVATED');
    expect(journal).not.toMatch(secretNames);
    expect(await shownNames(store)).toEqual(expectedNames);
    const options = { subjects, url: server.url(database), env: {}, journalKeys: async () => [journalKey] };
    const maintenance = databaseMaintenance(options);
    expect((await maintenance.check()).problems).toEqual([]);
    await query("UPDATE device SET user_id = 'eve' WHERE number = 1");
    expect((await maintenance.check()).problems).toEqual(['journal: the owner of DEV-1 was changed without an entry']);
    await cleanup();
  });

  it('fills who has ended a person by the reasons, and forgets it where an earlier version stores another reason', async () => {
    const before = migrations.slice(
      0,
      migrations.findIndex(({ name }) => name === 'who has ended persons'),
    );
    const old = await openPostgres(server, { migrations: before });
    try {
      await old.query(`INSERT INTO person (number, user_name, user_key, active, groups, source, created_at, updated_at, left_at, reason, version, salt, search)
        SELECT number, name, name, reason IS NULL, '[]', 'scim', 1, 1, 1, reason, 1, 's', ''
        FROM (VALUES (1, 'ann', 'left (scim)'), (2, 'bob', 'moved'), (3, 'cyd', NULL)) AS given (number, name, reason)`);
      const store = await old.reopen({ migrations });
      await old.query('UPDATE head SET person = 3');
      const enders = async () => {
        const persons = await Promise.all([1, 2, 3].map(number => store.person(number)));
        return persons.map(person => [person!.endedBy, isEndedHere(person!)]);
      };
      expect(await enders()).toEqual([
        ['source', false],
        ['admin', true],
        [null, false],
      ]);
      await old.query("UPDATE person SET search = 'ann' WHERE number = 1");
      await old.query("UPDATE person SET reason = 'left (scim)' WHERE number = 2");
      await old.query("UPDATE person SET active = false, reason = 'moved' WHERE number = 3");
      expect(await enders()).toEqual([
        ['source', false],
        [null, false],
        [null, true],
      ]);
    } finally {
      await old.cleanup();
    }
  });

  it.each(credentialFrauds)(
    'reports a credential that was changed without an entry: CRD-%i, %s',
    async (number, set) => {
      const { store, database, query, cleanup } = await openPostgres(server);
      await issueCredentials(store);
      const options = { subjects, url: server.url(database), env: {}, journalKeys: async () => [journalKey] };
      const problems = async () => (await databaseMaintenance(options).check()).problems;
      expect(await problems()).toEqual([]);
      await query(`UPDATE credential SET ${set} WHERE number = ${number}`);
      expect(await problems()).toEqual([`journal: CRD-${number} was changed without an entry`]);
      await cleanup();
    },
  );
});
