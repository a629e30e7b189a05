import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { create, edit } from '../../daemon/people/decisions.ts';
import { migrations } from '../../daemon/store/sqlite/migrations.ts';
import { openTemporary } from '../support/sqlite.ts';
import { commit } from './store/fixtures.ts';
import { expectedNames, liveOnce, secretNames, shownNames } from './store/person-life.ts';
import { add, leaving } from './store/person-rules.ts';

describe('persons in the SQLite store', () => {
  let opened: Awaited<ReturnType<typeof openTemporary>>;
  const problemsAfter = async (sql: string) => {
    const db = new Database(opened.file);
    db.exec(sql);
    db.close();
    return (await opened.verifyJournal()).problems;
  };
  beforeEach(async () => {
    opened = await openTemporary();
    const details = { names: { givenName: 'Ada' }, email: 'ada@example.com', externalId: null, groups: [1] };
    await commit(opened.store, [create({ userName: 'ada', name: 'Ada', source: 'scim', ...details })]);
    await commit(opened.store, [edit((await opened.store.person(1))!, { name: 'Countess' })!]);
  });
  afterEach(() => opened.cleanup());

  it('are what the journal proves', async () => {
    expect(await opened.verifyJournal()).toEqual({ entries: 2, problems: [] });
  });

  it.each([
    ...["user_name = 'eve'", "user_key = 'eve'", "email = 'eve@example.com'", "name = 'Ada'", "names = '{}'"],
    ...[
      'active = 0',
      "groups = '[1,2]'",
      "source = 'local'",
      'left_at = 5',
      "salt = 'x'",
      'due_at = 5',
      'removed_at = 5',
    ],
  ])('are reported if a row was changed without an entry: %s', async set => {
    expect(await problemsAfter(`UPDATE person SET ${set}`)).toEqual(['PER-1 was changed without an entry']);
  });

  it('are reported if a row was removed or added without an entry', async () => {
    expect(await problemsAfter('UPDATE person SET number = 2')).toEqual([
      'PER-2 was added without an entry',
      'PER-1 was removed without an entry',
    ]);
  });
});

describe('who has ended a person in the SQLite store', () => {
  let opened: Awaited<ReturnType<typeof openTemporary>>;
  const change = (sql: string) => {
    const db = new Database(opened.file);
    db.exec(sql);
    db.close();
  };
  const problems = async () => (await opened.verifyJournal()).problems;
  beforeEach(async () => {
    opened = await openTemporary();
    await commit(opened.store, [add('ann'), add('bob'), add('cyd')]);
    await commit(opened.store, [leaving(1, 'ann'), leaving(2, 'bob', { reason: 'moved', endedBy: 'admin' })]);
  });
  afterEach(() => opened.cleanup());

  it.each([
    [1, "'admin'"],
    [2, "'source'"],
    [3, "'source'"],
  ])('is proved by the journal: PER-%i, %s', async (person, value) => {
    expect(await problems()).toEqual([]);
    change(`UPDATE person SET ended_by = ${value} WHERE number = ${person}`);
    expect(await problems()).toEqual([`PER-${person} was changed without an entry`]);
  });

  it('is proved by the journal if an ADMIN has given the reason of a source', async () => {
    await commit(opened.store, [leaving(3, 'cyd', { endedBy: 'admin' })]);
    expect(await problems()).toEqual([]);
    change('UPDATE person SET ended_by = NULL WHERE number = 3');
    expect(await problems()).toEqual(['PER-3 was changed without an entry']);
  });

  it('is filled once by the reasons in a registry of an earlier version, whose journal proves it as before', async () => {
    await opened.store.close();
    const step = migrations.find(({ name }) => name === 'who has ended persons')!.number;
    change(`ALTER TABLE person DROP COLUMN ended_by; DROP TABLE identity; DROP INDEX device_on_its_way;
      ALTER TABLE device DROP COLUMN shipped_at; ALTER TABLE device DROP COLUMN received_at; PRAGMA user_version = ${step - 1}`);
    expect(await problems()).toEqual([]);
    const store = await opened.reopen();
    const enders = [1, 2, 3].map(async number => (await store.person(number))!.endedBy);
    expect(await Promise.all(enders)).toEqual(['source', 'admin', null]);
    expect(await problems()).toEqual([]);
  });
});

describe('the journal of the SQLite store', () => {
  let opened: Awaited<ReturnType<typeof openTemporary>>;
  beforeEach(async () => {
    opened = await openTemporary();
    await liveOnce(opened.store);
  });
  afterEach(() => opened.cleanup());
  const withDatabase = <T>(work: (db: Database.Database) => T): T => {
    const db = new Database(opened.file);
    try {
      return work(db);
    } finally {
      db.close();
    }
  };

  it('has no name of a person in any entry', () => {
    const rows = withDatabase(db => db.prepare('SELECT * FROM event').all());
    expect(rows.length).toBeGreaterThan(10);
    expect(JSON.stringify(rows)).not.toMatch(secretNames);
  });

  it('shows the user names as they were, also after a restart', async () => {
    expect(await shownNames(opened.store)).toEqual(expectedNames);
    expect(await shownNames(await opened.reopen())).toEqual(expectedNames);
  });

  it('proves the owners of devices', async () => {
    expect((await opened.verifyJournal()).problems).toEqual([]);
    withDatabase(db => db.exec("UPDATE device SET user_id = 'eve' WHERE number = 1"));
    expect((await opened.verifyJournal()).problems).toEqual(['the owner of DEV-1 was changed without an entry']);
  });

  it('shows the id of a person whose salt is gone', async () => {
    await opened.store.close();
    withDatabase(db => db.exec("UPDATE person SET salt = 'gone'"));
    expect((await shownNames(await opened.reopen()))[0]).toBe('PER-1');
  });

  it('is read where entries of an earlier version have names', async () => {
    const stored = withDatabase(db => db.prepare("SELECT data FROM event WHERE type = 'DEVICE_ACTIVATED'").all());
    expect(stored[1]).toEqual({ data: JSON.stringify({ deviceType: 'UKEY', userId: 'warehouse' }) });
    await commit(opened.store, [create({ ...noDetails, userName: 'warehouse' })]);
    expect((await opened.verifyJournal()).problems).toEqual([]);
  });
});

const noDetails = { name: null, names: null, email: null, externalId: null, groups: [], source: 'local' } as const;
