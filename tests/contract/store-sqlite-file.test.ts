import { statSync } from 'node:fs';
import { copyFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { create as createToken, revoke } from '../../daemon/accounts/service-token.ts';
import { create as createPasskey, remove } from '../../daemon/sign-in/passkey.ts';
import { subjects } from '../../daemon/start/subjects.ts';
import { StoreFailure } from '../../daemon/store/commit.ts';
import { checkDatabase } from '../../daemon/store/sqlite/check.ts';
import { openSqliteStore } from '../../daemon/store/sqlite/index.ts';
import { migrations } from '../../daemon/store/sqlite/migrations.ts';
import { openWriter } from '../../daemon/store/sqlite/open.ts';
import { backupDatabase } from '../../daemon/store/sqlite/snapshot.ts';
import { journalKey, openTemporary } from '../support/sqlite.ts';
import { addDevice, addToken, addUser, commit, everything, newPasskey, queryOf, setDevice } from './store/fixtures.ts';

type Opened = Awaited<ReturnType<typeof openTemporary>>;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'devmgr-file-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** The version of the schema. */
const latest = migrations.length;

const open = (file: string, more: object = {}) => openSqliteStore({ subjects, file, journalKey, ...more });

/** The message that opening is refused with. */
async function refusal(file: string): Promise<string> {
  const error = await open(file).then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StoreFailure);
  return (error as Error).message;
}

/** Changes a database without the store. */
function tamper(file: string, sql: string): void {
  const db = new Database(file);
  db.pragma('recursive_triggers = OFF');
  db.exec(sql);
  db.close();
}

describe('opening an SQLite store', () => {
  it('creates files that no one else can read', async () => {
    const store = await open(join(folder, 'devmgr.db'));
    await commit(store, [addDevice('A')]);
    const files = await readdir(folder);
    expect(files).toContain('devmgr.db-wal');
    for (const file of files) expect([file, (await stat(join(folder, file))).mode & 0o077]).toEqual([file, 0]);
    await store.close();
  });

  it('writes durably: synchronous is FULL, and the journal of SQLite is a WAL', async () => {
    const seen: unknown[] = [];
    const prepare = Database.prototype.pragma;
    const file = join(folder, 'devmgr.db');
    Database.prototype.pragma = function (this: Database.Database, source, options) {
      const answer = prepare.call(this, source, options);
      if (source.startsWith('synchronous')) seen.push(prepare.call(this, 'synchronous', { simple: true }));
      if (source.startsWith('journal_mode')) seen.push(prepare.call(this, 'journal_mode', { simple: true }));
      return answer;
    } as typeof prepare;
    try {
      await (await open(file)).close();
    } finally {
      Database.prototype.pragma = prepare;
    }
    expect(seen).toEqual(['wal', 2]);
  });

  it('refuses a file that is not a database, and explains what to do', async () => {
    const file = join(folder, 'devmgr.db');
    await writeFile(file, 'this is a letter, not a database. '.repeat(100));
    expect(await refusal(file)).toMatch(/devmgr\.db: file is not a database.*devmgr daemon restore FILE/);
    expect(await readFile(file, 'utf8')).toMatch(/^this is a letter/);
  });

  it('refuses a damaged database, and explains what to do', async () => {
    const file = join(folder, 'devmgr.db');
    const store = await open(file);
    await commit(
      store,
      Array.from({ length: 500 }, (_, i) => addDevice(`S${i}`)),
    );
    await store.close();
    const bytes = await readFile(file);
    bytes.fill(0xa5, 100, 4096);
    await writeFile(file, bytes);
    expect(await refusal(file)).toMatch(/malformed.*devmgr daemon restore FILE/);
  });

  it('refuses a database of another program and does not change it', async () => {
    const file = join(folder, 'devmgr.db');
    tamper(file, 'CREATE TABLE recipes (name TEXT)');
    expect(await refusal(file)).toMatch(/another program/);
    const db = new Database(file);
    expect(db.prepare('SELECT name FROM sqlite_schema').pluck().all()).toEqual(['recipes']);
    db.close();
  });

  it('refuses a newer database', async () => {
    const file = join(folder, 'devmgr.db');
    await (await open(file)).close();
    tamper(file, `PRAGMA user_version = ${latest + 1}`);
    expect(await refusal(file)).toMatch(
      new RegExp(`database version ${latest + 1}, this devmgr supports up to ${latest}.*newer devmgr`),
    );
  });

  it('refuses a folder that does not exist', async () => {
    expect(await refusal(join(folder, 'no', 'devmgr.db'))).toMatch(/no\/devmgr\.db.*ENOENT/);
  });
});

const planted = `INSERT INTO service_token VALUES (1, 'line-1', 'ADMIN', 'ab', 'admin', 1, 2, NULL, NULL, NULL, '[]', NULL)`;

describe('upgrading an older database', () => {
  const step = (sql: string) => [...migrations, { number: latest + 1, name: 'shelves', sql }];
  const at = Date.UTC(2026, 0, 2, 3, 4, 5);
  const file = () => join(folder, 'devmgr.db');
  const copy = () => `${file()}.v${latest}-20260102T030405000Z`;

  beforeEach(async () => {
    const store = await open(file());
    await commit(store, [addDevice('A')]);
    await store.close();
  });

  it('keeps the content and makes a copy of the old database', async () => {
    const notices: string[] = [];
    const more = {
      migrations: step('ALTER TABLE device ADD COLUMN shelf TEXT'),
      now: () => at,
      notice: (text: string) => notices.push(text),
    };
    const store = await open(file(), more);
    expect((await store.device(1))?.serialNumber).toBe('A');
    expect(await commit(store, [addDevice('B')])).toEqual([{ kind: 'added', number: 2 }]);
    await store.close();
    expect(notices.join()).toContain(copy());
    expect((await stat(copy())).mode & 0o777).toBe(0o600);
    const old = await open(copy());
    expect(await old.device(2)).toBeNull();
    expect((await old.device(1))?.serialNumber).toBe('A');
    await old.close();
    await (await open(file(), more)).close();
    expect((await readdir(folder)).filter(name => name.includes(`.v${latest}-`))).toHaveLength(1);
  });

  it('from a version without tags keeps the devices, which have none, and takes tags', async () => {
    const old = join(folder, 'untagged.db');
    const before = await openWriter({ file: old, migrations: migrations.slice(0, 3) });
    before.exec(
      `INSERT INTO device (number, device_type, serial_number, manufacturer, model, activation_code, activation_code_expires_at, created_at)
       VALUES (1, 'UKEY', 'A', 'F', 'M', 'X', 1, 1)`,
    );
    before.close();
    const { problems } = await checkDatabase(subjects, old, journalKey);
    expect(problems.join()).toContain('device 1 has no journal entry');
    expect(problems.join()).not.toMatch(/tag|no such/);
    const store = await open(old);
    expect((await store.device(1))?.tags).toEqual({});
    expect((await store.devices(queryOf())).rows[0]?.tags).toEqual({});
    await commit(store, [setDevice(1, { tags: { lot: '7' } })]);
    const tags = [{ name: 'lot', value: '7' }];
    expect(await store.devices(queryOf({ tags }))).toMatchObject({
      total: 1,
      rows: [{ number: 1, tags: { lot: '7' } }],
    });
    await store.close();
  });

  it('from a version without the role HOLDER keeps the users, and what refers to them', async () => {
    const old = join(folder, 'holders.db');
    const step = migrations.findIndex(({ name }) => name === 'holders and shipments');
    const before = await openWriter({ file: old, migrations: migrations.slice(0, step) });
    before.exec(`INSERT INTO user VALUES (1, 'eve', 'x', 'ADMIN', NULL, 0, 1, 0, 'eve'), (2, 'bob', 'y', 'VIEWER', 'b@c', 1, 2, 3, 'bob');
      INSERT INTO passkey VALUES (1, 2, 'desk', 'AAAA', 'AAAA', 'localhost', '[]', '', 0, 1, NULL, NULL, 1, '[]');
      INSERT INTO sso_session VALUES (2, 1, '[]')`);
    before.close();
    const store = await open(old);
    expect(await store.user(2)).toMatchObject({
      username: 'bob',
      role: 'VIEWER',
      email: 'b@c',
      disabled: true,
      tokenEpoch: 3,
    });
    expect(await store.passkeysOf(2)).toMatchObject([{ name: 'desk' }]);
    expect((await store.usersNamed('BOB')).length).toBe(1);
    await commit(store, [addUser('holder', { role: 'HOLDER' })]);
    expect(await store.userByName('holder')).toMatchObject({ number: 3, role: 'HOLDER' });
    await store.close();
    const db = new Database(old);
    expect(db.pragma('foreign_key_check')).toEqual([]);
    expect(() => db.exec("UPDATE user SET role = 'KING'")).toThrow('CHECK');
    db.close();
  });

  it('from a version without permissions keeps the service tokens, which have none', async () => {
    const old = join(folder, 'permissions.db');
    const before = await openWriter({ file: old, migrations: migrations.slice(0, 8) });
    before.exec(planted.replace(`, '[]', NULL`, ''));
    before.close();
    const { problems } = await checkDatabase(subjects, old, journalKey);
    expect(problems.join()).toContain('TOK-1 (line-1) was added without an entry');
    expect(problems.join()).not.toMatch(/no such/);
    const store = await open(old);
    expect(await store.serviceToken(1)).toMatchObject({ name: 'line-1', may: [] });
    await store.close();
  });

  it('from a version without owners gives the service tokens to their creators', async () => {
    const old = join(folder, 'owners.db');
    const step = migrations.findIndex(({ name }) => name === 'permissions of service tokens') + 1;
    const before = await openWriter({ file: old, migrations: migrations.slice(0, step) });
    const values = "'x', 'ADMIN', NULL, 0, 1, 0";
    before.exec(`INSERT INTO user VALUES (1, 'eve', ${values}), (2, 'admin', ${values}), (3, 'Admin', ${values})`);
    before.exec(planted.replace(', NULL)', ')'));
    before.close();
    expect((await checkDatabase(subjects, old, journalKey)).problems.join()).not.toMatch(/no such/);
    const store = await open(old);
    expect(await store.serviceToken(1)).toMatchObject({ createdBy: 'admin', owner: 2 });
    await store.close();
  });

  it('whose entries name no owner has a whole journal: the creator is the owner, and no one else', async () => {
    const old = join(folder, 'entries.db');
    const store = await open(old);
    await commit(store, [addUser('eve'), addUser('admin')]);
    const token = { name: 'line-1', role: 'VIEWER', sha256: 'cd', createdBy: 'admin', owner: 2, expiresAt: 9 } as const;
    const made = createToken({ ...token, allowedFrom: null, may: [] });
    const { owner: _, ...detail } = made.entry.detail!;
    await commit(store, [{ ...made, entry: { ...made.entry, detail } }], { actor: 'admin' });
    await store.close();
    const problems = async () => (await checkDatabase(subjects, old, journalKey)).problems;
    expect(await problems()).toEqual([]);
    tamper(old, 'UPDATE service_token SET owner = NULL');
    expect(await problems()).toEqual([]);
    tamper(old, 'UPDATE service_token SET owner = 1');
    expect(await problems()).toEqual(['journal: TOK-1 (line-1) was changed without an entry']);
  });

  it('from its first version keeps the content and takes service tokens', async () => {
    const old = join(folder, 'first.db');
    const first = await openWriter({ file: old, migrations: migrations.slice(0, 1) });
    first.exec(
      `INSERT INTO app VALUES (1, 'IOS', '1.0.0', NULL, NULL, 0, NULL, 'a.ipa', 'ipa', 1, 'ab', 'admin', 1, 'b')`,
    );
    first.close();
    const store = await open(old);
    expect(await store.app(1)).toMatchObject({ platform: 'IOS', version: '1.0.0' });
    expect(await commit(store, [addToken('line-1')])).toEqual([{ kind: 'added', number: 1 }]);
    expect(await store.serviceToken(1)).toMatchObject({ name: 'line-1', revokedAt: null });
    await store.close();
  });

  it('changes nothing if a step fails, and names the step', async () => {
    const failing = step('ALTER TABLE device ADD COLUMN shelf TEXT; INSERT INTO nothing VALUES (1)');
    await expect(open(file(), { migrations: failing, now: () => at })).rejects.toThrow(
      new RegExp(`step ${latest + 1} \\(shelves\\).*unchanged.*\\.v${latest}-`),
    );
    const store = await open(file());
    expect((await store.device(1))?.serialNumber).toBe('A');
    await store.close();
    const db = new Database(file());
    expect(db.pragma('user_version', { simple: true })).toBe(latest);
    expect(db.prepare('SELECT * FROM device').get()).not.toHaveProperty('shelf');
    db.close();
  });
});

describe('a copy of an SQLite store', () => {
  let opened: Opened;
  beforeEach(async () => {
    opened = await openTemporary();
  });
  afterEach(() => opened.cleanup());

  it('made during commits shows one moment, in one complete file', async () => {
    const { store } = opened;
    await commit(
      store,
      Array.from({ length: 20_000 }, (_, i) => addDevice(`S${i}`)),
    );
    let going = true;
    const writing = (async () => {
      for (let i = 0; going; i++)
        await commit(store, [addDevice(`T${i}`), setDevice(1 + (i % 20_000), { status: 'LOCKED' })]);
    })();
    const to = join(folder, 'copy.db');
    await backupDatabase(opened.file, to);
    going = false;
    await writing;
    expect(await readdir(folder)).toEqual(['copy.db']);
    expect((await stat(to)).mode & 0o777).toBe(0o600);
    const report = await checkDatabase(subjects, to, journalKey);
    expect(report.problems).toEqual([]);
    expect(report.devices).toBeGreaterThanOrEqual(20_000);
    const copied = await open(to);
    expect((await copied.devices(queryOf({ status: ['LOCKED'] }))).total).toBe(
      Math.min(report.devices - 20_000, 20_000),
    );
    await copied.close();
    expect((await opened.check()).problems).toEqual([]);
  });

  it('is never readable for others, even while it is being made', async () => {
    await commit(opened.store, [addDevice('A')]);
    const umask = process.umask(0);
    try {
      const making = backupDatabase(opened.file, join(folder, 'copy.db'));
      expect(statSync(join(folder, 'copy.db.unfinished')).mode & 0o777).toBe(0o600);
      await making;
      expect(statSync(join(folder, 'copy.db')).mode & 0o777).toBe(0o600);
    } finally {
      process.umask(umask);
    }
  });

  it('can be made without the store, and opens with the same content', async () => {
    await commit(opened.store, [addDevice('A')]);
    const before = await everything(opened.store);
    await backupDatabase(opened.file, join(folder, 'copy.db'));
    const copied = await open(join(folder, 'copy.db'));
    expect(await everything(copied)).toEqual(before);
    await copied.close();
  });

  it('never overwrites a file, and leaves nothing if it cannot be made', async () => {
    await writeFile(join(folder, 'there'), 'precious');
    await expect(backupDatabase(opened.file, join(folder, 'there'))).rejects.toThrow(/already exists/);
    expect(await readFile(join(folder, 'there'), 'utf8')).toBe('precious');
    await expect(backupDatabase(opened.file, join(folder, 'no', 'copy'))).rejects.toThrow(StoreFailure);
    expect(await readdir(folder)).toEqual(['there']);
  });
});

describe('checking an SQLite store', () => {
  let opened: Opened;
  beforeEach(async () => {
    opened = await openTemporary();
    await commit(opened.store, [addDevice('A'), addDevice('B')]);
    await commit(opened.store, [setDevice(1, { status: 'LOCKED' })]);
  });
  afterEach(() => opened.cleanup());

  it('finds no problems in an intact one', async () => {
    expect(await opened.check()).toEqual({ problems: [], unproven: [], devices: 2, entries: 3 });
  });

  const problems: readonly (readonly [string, string, RegExp])[] = [
    [
      'a wrong counter',
      `UPDATE device_count SET count = 5 WHERE status = 'LOCKED'`,
      /counter of UKEY LOCKED of Feitian is 5, there are 1/,
    ],
    [
      'a status changed without the counters',
      `UPDATE device SET status = 'ACTIVE' WHERE number = 2`,
      /counter of UKEY ACTIVE of Feitian is 0, there are 1/,
    ],
    [
      'a device without a journal entry',
      `INSERT INTO device (number, device_type, serial_number, manufacturer, model, activation_code, activation_code_expires_at, created_at) VALUES (3, 'UKEY', 'C', 'F', 'm', 'x', 1, 1)`,
      /device 3 has no journal entry/,
    ],
    ['a missing device', 'DELETE FROM device WHERE number = 1', /numbers are missing in device: 1 rows up to number 2/],
    [
      'a backup without a device',
      `PRAGMA foreign_keys = OFF; INSERT INTO backup VALUES (1, 77, 'f', 1, 's', NULL, 1, 'b')`,
      /backup 1 refers to a row that does not exist/,
    ],
    [
      'a wrong number of backups',
      'UPDATE device SET backup_count = 2 WHERE number = 1',
      /device 1 has the count 2 of backups, there are 0/,
    ],
  ];
  for (const [what, change] of [
    ['a service token without a journal entry', planted],
    ['a service token with another role', `UPDATE service_token SET role = 'ADMIN'`],
    ['a service token with another digest', `UPDATE service_token SET sha256 = 'ab'`],
    ['a service token that is accepted from elsewhere', 'UPDATE service_token SET allowed_from = NULL'],
    ['a service token with more permissions', `UPDATE service_token SET may = '["webhooks","policies"]'`],
    ['a service token that expires later', 'UPDATE service_token SET expires_at = expires_at + 1'],
    ['a service token of another owner', 'UPDATE service_token SET owner = 6'],
    ['a service token that is no longer revoked', 'UPDATE service_token SET revoked_at = NULL'],
  ] as const)
    it(`finds ${what}`, async () => {
      if (change !== planted) {
        const token = {
          name: 'line-1',
          role: 'VIEWER',
          sha256: 'cd',
          createdBy: 'admin',
          owner: 5,
          expiresAt: 9,
          allowedFrom: ['10.0.0.0/8'],
          may: ['policies'],
        } as const;
        await commit(opened.store, [createToken(token)]);
        const record = await opened.store.serviceToken(1);
        await commit(opened.store, [revoke(record!)], { at: 7 });
        expect((await opened.check()).problems).toEqual([]);
      }
      tamper(opened.file, change);
      expect((await opened.check()).problems.join('\n')).toMatch(
        /TOK-1 \(line-1\) was (added|changed) without an entry/,
      );
    });

  for (const [what, change] of [
    ['a passkey of another user', 'UPDATE passkey SET owner = 2'],
    ['a passkey with another public key', `UPDATE passkey SET public_key = 'xx'`],
    ['a passkey with another credential', `UPDATE passkey SET credential_id = 'xx'`],
    ['a passkey of another site', `UPDATE passkey SET rp_id = 'evil.test'`],
    ['a removed passkey that was restored', 'UPDATE passkey SET removed_at = NULL'],
    [
      'a passkey without a journal entry',
      `INSERT INTO passkey SELECT 2, owner, name, 'yy', public_key, rp_id, transports, aaguid, 0, 1, NULL, NULL, 0, '[]' FROM passkey`,
    ],
  ] as const)
    it(`finds ${what}`, async () => {
      const { store } = opened;
      await commit(store, [addUser('alice'), addUser('bob')]);
      await commit(store, [createPasskey(newPasskey(1, 'key-1'), { username: 'alice' })]);
      await commit(store, [remove((await store.passkey(1))!)], { at: 1_700_000_000_007 });
      tamper(opened.file, change);
      expect((await opened.check()).problems.join('\n')).toMatch(
        /PSK-[12] \(desk\) was (added|changed) without an entry/,
      );
    });

  for (const [what, sql, words] of problems)
    it(`finds ${what}`, async () => {
      tamper(opened.file, sql);
      expect((await opened.check()).problems.join('\n')).toMatch(words);
    });

  it('compares an older one with its journal, too', async () => {
    const old = join(folder, 'older.db');
    const first = await openWriter({ file: old, migrations: migrations.slice(0, 1) });
    first.exec(
      `INSERT INTO user (number, username, password_hash, role, disabled, created_at) VALUES (1, 'eve', 'h', 'ADMIN', 0, 1)`,
    );
    first.close();
    expect((await checkDatabase(subjects, old, journalKey)).problems).toContain(
      'journal: all entries and the seal were removed',
    );
  });

  it('reports the head of a journal of which there is no table any more', async () => {
    const empty = join(folder, 'empty.db');
    await writeFile(empty, '');
    const heads = [{ id: 3, mac: 'x', source: 'the given head' }];
    const { problems } = await checkDatabase(subjects, empty, journalKey, { heads, isFileMissing: false });
    expect(problems).toEqual(['journal: the journal ends at entry 0, the given head records 3: entries were removed']);
  });

  it('finds damaged pages', async () => {
    await commit(
      opened.store,
      Array.from({ length: 2000 }, (_, i) => addDevice(`S${i}`)),
    );
    const copy = join(folder, 'copy.db');
    await backupDatabase(opened.file, copy);
    const bytes = await readFile(copy);
    // A page of the devices, beyond those of the schema.
    bytes.fill(0, 4096 * 60, 4096 * 61);
    await writeFile(join(folder, 'damaged.db'), bytes);
    const report = await checkDatabase(subjects, join(folder, 'damaged.db'), journalKey);
    expect(report.problems.join('\n')).toMatch(/^database: /);
  });

  it('refuses a file that cannot be opened', async () => {
    await expect(checkDatabase(subjects, join(folder, 'none.db'), journalKey)).rejects.toThrow(
      /none\.db.*check that it exists/,
    );
    await copyFile(process.execPath, join(folder, 'node'));
    await expect(checkDatabase(subjects, join(folder, 'node'), journalKey)).rejects.toThrow(StoreFailure);
  });
});
