/** The journal as an operator reads it: what it shows, and that changes to it are detected. */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { audit } from '../../daemon/maintenance/audit.ts';
import { check } from '../../daemon/maintenance/maintenance.ts';
import type { AuditOptions } from '../../src/contract/programs.ts';
import { readCsv } from '../../src/tables/csv.ts';
import { copyHome } from '../support/copied-home.ts';
import { adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { rowsOf } from '../support/database.ts';
import { data, deviceIn, register, type TestDevice } from '../support/fleet.ts';
import { IdentityKey } from '../support/identity-key.ts';
import { answerOf, startWebauthnServer } from '../support/issuing-providers.ts';
import { runDaemonProgram } from '../support/programs.ts';
import { patchOp, scimClient } from '../support/scim.ts';

let daemon: TestDaemon;
let device: TestDevice;
/** A copy of the home to tamper with. */
let home: string;
beforeAll(async () => {
  daemon = await startTestDaemon({ webhookAllow: ['127.0.0.1'] });
  const { token } = await daemon.user('dealer', 'DEALER');
  device = await deviceIn('LOCKED', daemon);
  const reason = { reason: '=cmd|calc', note: 'line one\nline two' };
  data(await daemon.call('POST', `/api/devices/${device.deviceId}/unlock`, { note: reason.note }, { token }));
  data(await daemon.call('POST', `/api/devices/${device.deviceId}/lock`, reason, { token }));
  for (let i = 0; i < 5; i++) await register(daemon);
});
afterAll(() => daemon?.stop());
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'devmgr-audit-'));
  await copyHome(daemon.home, home);
});
afterEach(() => rm(home, { recursive: true, force: true }));

const everything: Omit<AuditOptions, 'home'> = { json: false, device: null, since: null, limit: null, verify: false };
const run = (options: Partial<AuditOptions>) => runDaemonProgram(audit, { ...everything, home, ...options });
const rows = async (options: Partial<AuditOptions>) => {
  const { code, stdout } = await run({ json: true, ...options });
  expect(code).toBe(0);
  return stdout
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line));
};

/** The rows of a CSV text, keyed by column name. */
async function tableOf(csv: string): Promise<Record<string, string>[]> {
  const records: (readonly string[])[] = [];
  async function* chunks() {
    yield csv;
  }
  for await (const record of readCsv(chunks())) {
    if ('problem' in record) throw new Error(`line ${record.line}: ${record.problem}`);
    records.push(record.cells);
  }
  const [names, ...rows] = records;
  return rows.map(cells => Object.fromEntries(cells.map((cell, i) => [names![i]!, cell])));
}

describe('a hostile text in the database', () => {
  it.each(['user', 'service_token'])(
    'does not control the terminal that shows what is wrong with the table %s',
    async table => {
      const db = new Database(join(home, 'devmgr.db'));
      const name = `'x' || char(27) || '[2K' || char(13) || char(10) || 'OK: 9 entries checked' || char(8238)`;
      db.exec(
        table === 'user'
          ? `INSERT INTO user (number, username, password_hash, role, disabled, created_at) VALUES (99, ${name}, 'h', 'ADMIN', 0, 1)`
          : `INSERT INTO service_token VALUES (99, ${name}, 'ADMIN', 'ab', 'admin', 1, 2, NULL, NULL, NULL, '[]', NULL)`,
      );
      db.close();
      for (const { code, stdout } of [
        await run({ verify: true }),
        await runDaemonProgram(check, { home, json: false }),
      ]) {
        expect(code).toBe(1);
        expect(stdout).toContain('\\u001b[2K\\u000d\\nOK: 9 entries checked\\u202e');
        expect(stdout).not.toMatch(/[^\P{C}\n]/u);
      }
    },
  );
});

describe('daemon audit --verify', () => {
  const verify = () => run({ verify: true });
  /** Changes by a person who has the file but not the key. */
  const tamper = (sql: string) => {
    const db = new Database(join(home, 'devmgr.db'));
    db.exec(`DROP TRIGGER event_is_never_changed; DROP TRIGGER event_is_never_removed; ${sql}`);
    db.close();
  };

  it('reports an unchanged journal as OK, with its length', async () => {
    const { code, stdout } = await verify();
    const entries = (await rows({})).length;
    expect([code, stdout]).toEqual([0, `OK: ${entries} entries checked\n`]);
    expect(JSON.parse((await run({ verify: true, json: true })).stdout)).toEqual({ entries, problems: [] });
  });

  it.each([
    ['changed', `UPDATE event SET actor = 'somebody-else' WHERE id = 5`, /^entry 5 was changed/],
    [
      'changed in its details',
      `UPDATE event SET detail = '{}' WHERE type = 'DEVICE_UNLOCKED'`,
      /^entry \d+ was changed/,
    ],
    ['removed', 'DELETE FROM event WHERE id = 4', /^entry 4 was removed\n$/],
    ['removed at the end', 'DELETE FROM event WHERE id = (SELECT max(id) FROM event)', /^entry \d+ was removed\n$/],
    [
      'inserted',
      `INSERT INTO event SELECT max(id) + 1, at, type, device, subject, actor, request_id, data, detail, mac FROM event`,
      /^entry \d+ was changed, inserted or moved.*\nentries after \d+ were inserted/,
    ],
    [
      'reordered',
      'UPDATE event SET id = -1 WHERE id = 3; UPDATE event SET id = 3 WHERE id = 4; UPDATE event SET id = 4 WHERE id = -1',
      /^entry 3 was changed, inserted or moved.*\nentry 4 was changed, inserted or moved/,
    ],
  ] as const)('names the entry that was %s', async (_how, sql, words) => {
    tamper(sql);
    const { code, stdout } = await verify();
    expect(code).toBe(1);
    expect(stdout).toMatch(words);
    expect(JSON.parse((await run({ verify: true, json: true })).stdout).problems.length).toBeGreaterThan(0);
  });

  it('reports a missing journal key instead of creating a new one', async () => {
    await unlink(join(home, 'journal-key'));
    for (let i = 0; i < 2; i++) {
      const { code, stderr } = await verify();
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(/journal-key is missing\n {2}restore it from a backup/),
      ]);
    }
  });

  it('does not create a registry if there is none', async () => {
    const nowhere = join(home, 'nothing-here');
    expect(await run({ verify: true, home: nowhere })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/no registry/),
    });
  });
});

describe('daemon audit', () => {
  it('reports that a user does not exist, with exit code 5', async () => {
    expect(await run({ user: 'nosuch' })).toMatchObject({
      code: 5,
      stdout: '',
      stderr: expect.stringContaining('there is no user nosuch'),
    });
    const { code, stderr } = await run({ user: 'nosuch', json: true });
    expect([code, JSON.parse(stderr).error.code]).toEqual([5, 404]);
  });

  it('reports that no entry matches if the user exists', async () => {
    const nothing = await run({ user: 'admin', types: ['APP_VERSION_UPLOADED'] });
    expect(nothing).toMatchObject({ code: 0, stdout: '', stderr: 'no entry matches\n' });
    const csv = await run({ user: 'admin', types: ['APP_VERSION_UPLOADED'], csv: true });
    expect(csv).toMatchObject({ code: 0, stderr: '' });
  });

  it('shows who did what to which device, with its serial number, oldest first', async () => {
    const all = await rows({});
    expect(all.map(({ id }) => id)).toEqual(all.map((_, i) => i + 1));
    expect(all[0]).toMatchObject({ type: 'USER_CREATED', user: null });
    const { deviceId, serialNumber } = device;
    expect(all.filter(row => row.deviceId === deviceId)).toMatchObject([
      { type: 'DEVICE_REGISTERED', user: 'admin', serialNumber },
      { type: 'DEVICE_ACTIVATED', user: 'admin', details: { userId: 'alice' } },
      { type: 'DEVICE_LOCKED', user: 'admin', details: { lockReason: 'reported lost' } },
      {
        type: 'DEVICE_UNLOCKED',
        user: 'dealer',
        details: { note: 'line one\nline two', wasLockedFor: 'reported lost' },
      },
      { type: 'DEVICE_LOCKED', user: 'dealer', details: { lockReason: '=cmd|calc' }, requestId: expect.any(String) },
    ]);
  });

  it('filters by device (id or serial number), user, type, position, time and number of entries', async () => {
    const all = await rows({});
    const ids = (some: readonly { id: number }[]) => some.map(({ id }) => id);
    const same = async (options: Partial<AuditOptions>, of: (row: (typeof all)[number]) => boolean) =>
      expect(ids(await rows(options))).toEqual(ids(all.filter(of)));
    await same({ device: device.deviceId }, row => row.deviceId === device.deviceId);
    await same({ device: device.serialNumber }, row => row.deviceId === device.deviceId);
    await same({ user: 'dealer' }, row => row.user === 'dealer');
    await same({ types: ['DEVICE_LOCKED'] }, row => row.type === 'DEVICE_LOCKED');
    await same({ since: { id: 3 } }, row => row.id > 3);
    await same({ until: { id: 3 } }, row => row.id < 3);
    const moment = Date.parse(all[4].timestamp);
    await same({ since: { time: new Date(moment) } }, row => Date.parse(row.timestamp) >= moment);
    await same({ until: { time: new Date(moment) } }, row => Date.parse(row.timestamp) < moment);
    expect(ids(await rows({ limit: 2 }))).toEqual(ids(all.slice(-2)));
    expect(ids(await rows({ limit: 2, since: { id: 3 } }))).toEqual([4, 5]);
  });

  it('refuses an unknown device', async () => {
    expect(await run({ device: 'DEV-X' })).toMatchObject({
      code: 5,
      stdout: '',
      stderr: expect.stringContaining('DEV-X'),
    });
  });

  it('refuses an unknown type and lists the types', async () => {
    expect(await run({ types: ['DEVICE_LOCKED', 'DEVICE_LOKCED'] })).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/no entries of type DEVICE_LOKCED[\s\S]*DEVICE_LOCKED.*USER_LOGGED_OUT/),
    });
  });

  it('prints CSV that is safe for a spreadsheet: quoted, and no cell is a formula', async () => {
    const { stdout } = await run({ csv: true, device: device.deviceId });
    const table = await tableOf(stdout);
    expect(table.at(-1)).toMatchObject({ type: 'DEVICE_LOCKED', user: 'dealer', serialNumber: device.serialNumber });
    for (const cell of table.flatMap(row => Object.values(row))) expect(cell).not.toMatch(/^[=+\-@\t\r]/);
    expect(JSON.parse(table.at(-1)!.details!)).toMatchObject({ lockReason: '=cmd|calc' });
  });

  it.each([
    ['-2-3', '-4-5'],
    ['@SUM', '-6-7'],
  ])(
    'prints a user %s and a serial number %s as cells that a spreadsheet does not run',
    async (username, serialNumber) => {
      data(await daemon.call('POST', '/api/users', { username, password: adminPassword, role: 'DEALER' }));
      const token = await daemon.login(username);
      await register(daemon, { serialNumber }, token);
      const { stdout } = await run({ home: daemon.home, csv: true, user: username });
      expect(await tableOf(stdout)).toMatchObject([{ user: `'${username}`, serialNumber: `'${serialNumber}` }]);
    },
  );

  it('prints one line per entry for people, even if a note has line breaks', async () => {
    const { stdout } = await run({ device: device.deviceId });
    expect(stdout.trimEnd().split('\n')).toHaveLength(5);
    expect(stdout).toContain('line one\\nline two');
  });
});

describe('the credential of a key', () => {
  const key = new IdentityKey();
  beforeAll(async () => {
    const { deviceId } = await key.enroll(daemon);
    data(await key.prove(daemon));
    data(await daemon.call('POST', `/api/devices/${deviceId}/reset`, { stage: 'done' }));
    await new IdentityKey().enroll(daemon);
  });

  it.each([
    ["public_key = 'AAAA'", 'identity 1 was changed without an entry'],
    ['lost_at = NULL', 'identity 1 was changed without an entry'],
    ['proved_at = proved_at + 1', 'identity 1 was changed without an entry'],
    ['device = 1', 'identity 1 was changed without an entry'],
    [null, 'identity 1 was removed without an entry'],
  ])('is proved by the journal: %s', async (set, problem) => {
    expect((await run({ verify: true })).code).toBe(0);
    const db = new Database(join(home, 'devmgr.db'));
    db.exec(set === null ? 'DELETE FROM identity WHERE number = 1' : `UPDATE identity SET ${set} WHERE number = 1`);
    db.close();
    const { code, stdout } = await run({ verify: true, json: true });
    expect([code, JSON.parse(stdout).problems]).toEqual([1, [problem]]);
  });
});

describe('a person', () => {
  const userName = 'kz.user';
  /** Details of the person that the registry stores beside the user name. */
  const names = /quirren|konrad|horst|example\.org|ext-4711/i;

  it('is a reference in every entry: neither names nor addresses are stored outside the row of the person', async () => {
    const call = async (method: string, path: string, body?: object) => data(await daemon.call(method, path, body));
    const scim = await scimClient(daemon);
    const bound = async (user: string, { deviceId, activationCode }: TestDevice): Promise<void> =>
      call('POST', '/api/devices/activate', { deviceId, activationCode, userId: user });
    const local = await call('POST', '/api/people', { userName, name: 'Konrad Quirren', email: 'kz@example.org' });
    for (let made = 0; made < 10; made++) await bound(userName, await register(daemon));
    await call('POST', `/api/people/${local.personId}/leave`, { reason: 'has left' });
    await call('POST', '/api/people/release', { personIds: [local.personId] });
    await call('POST', `/api/people/${local.personId}/return`);
    const name = { givenName: 'Horst', familyName: 'Quirren', formatted: 'Horst Quirren' };
    const emails = [{ value: 'horst@example.org', primary: true }];
    const { id } = (
      await scim('POST', '/Users', {
        userName: `${userName}.2`,
        name,
        displayName: 'H. Quirren',
        emails,
        externalId: 'ext-4711',
      })
    ).body;
    await scim('POST', '/Groups', { displayName: 'Pioneers', members: [{ value: id }] });
    await bound(`${userName}.2`, await register(daemon));
    for (const [path, value] of [
      ['displayName', 'Horst W. Quirren'],
      ['userName', `${userName}.3`],
      ['active', false],
      ['active', true],
    ] as const)
      expect((await scim('PATCH', `/Users/${id}`, patchOp({ op: 'replace', path, value }))).status).toBe(200);
    expect((await scim('DELETE', `/Users/${id}`)).status).toBe(204);
    const account = { username: 'pioneer', password: adminPassword, role: 'VIEWER', email: 'quirren@example.org' };
    const user = await call('POST', '/api/users', account);
    await call('PUT', `/api/users/${user.id}`, { email: 'konrad@example.org' });
    // A WebAuthn server calls the person by user name.
    const { settings } = await startWebauthnServer();
    const { providerId } = await call('POST', '/api/providers', { name: 'server', ...settings });
    const issuedKey = await register(daemon);
    await bound(userName, issuedKey);
    const credentials = `/api/devices/${issuedKey.deviceId}/credentials`;
    const begun = await call('POST', credentials, { providerId });
    await call('POST', `${credentials}/${begun.credentialId}`, { response: answerOf(begun) });

    const entries = (await runDaemonProgram(audit, { ...everything, home: daemon.home, json: true })).stdout;
    const types = new Set(entries.split('\n').map(line => /"type":"([A-Z_]+)"/.exec(line)?.[1]));
    const expected = ['PERSON_ADDED', 'PERSON_UPDATED', 'PERSON_HELD', 'PERSON_LEFT', 'PERSON_RETURNED', 'GROUPS_SET'];
    for (const type of ['CREDENTIAL_BEGUN', 'CREDENTIAL_ISSUED']) expect(types).toContain(type);
    for (const type of [...expected, 'DEVICE_ACTIVATED', 'DEVICE_LOCKED', 'DEVICE_UPDATED', 'USER_CREATED'])
      expect(types).toContain(type);
    expect(entries).not.toMatch(names);
    expect(JSON.stringify(await call('GET', '/api/events?limit=1000'))).not.toMatch(names);
    const stored = rowsOf(join(daemon.home, 'devmgr.db'));
    expect(stored.get('person')).toMatch(names);
    for (const [table, rows] of stored) {
      if (!['person', 'user'].includes(table)) expect([table, names.exec(rows)]).toEqual([table, null]);
      const hasUserName = ['person', 'device', 'credential'].includes(table);
      expect([table, rows.includes(userName)]).toEqual([table, hasUserName]);
    }
  });

  it('can be taken out: without the row and its texts for searches no file has the names, each entry is still proved, and shows the id', async () => {
    const file = join(home, 'devmgr.db');
    const db = new Database(file);
    const numbers = db.prepare('SELECT number FROM person ORDER BY number').pluck().all() as number[];
    expect(numbers).toHaveLength(2);
    for (const number of numbers)
      for (const column of ['device SET user_id', 'credential SET account'])
        db.prepare(
          `UPDATE ${column} = ? WHERE ${column.split(' ').at(-1)} = (SELECT user_name FROM person WHERE number = ?)`,
        ).run(`PER-${number}`, number);
    db.exec('UPDATE device SET user_key = lower(user_id) WHERE person IS NOT NULL');
    db.exec('DELETE FROM person; DELETE FROM search_text; UPDATE user SET email = NULL; VACUUM');
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    db.close();
    const { code, stdout } = await run({ verify: true, json: true });
    const missing = numbers.map(number => `PER-${number} was removed without an entry`);
    expect([code, JSON.parse(stdout).problems]).toEqual([1, ['CRD-1 was changed without an entry', ...missing]]);
    expect(readFileSync(file, 'latin1')).not.toMatch(new RegExp(`${names.source}|${userName}`, 'i'));
    const owners = (await rows({}))
      .filter(({ type }) => type === 'DEVICE_ACTIVATED')
      .map(({ details }) => details.userId);
    expect(new Set(owners)).toEqual(new Set(['alice', 'PER-1', 'PER-2']));
  });
});

describe('the case of a leaver', () => {
  let closed = '';
  beforeAll(async () => {
    const call = async (method: string, path: string, body?: object) => data(await daemon.call(method, path, body));
    const leaver = async (userName: string) => {
      const { personId } = await call('POST', '/api/people', { userName });
      const { deviceId, activationCode } = await register(daemon);
      await call('POST', '/api/devices/activate', { deviceId, activationCode, userId: userName });
      await call('POST', `/api/people/${personId}/leave`, { reason: 'has left' });
      // The brake may have held it.
      await daemon.call('POST', `/api/devices/${deviceId}/unlock`, {});
      await call('POST', `/api/people/${personId}/case/keep`, { kind: 'device', id: deviceId, reason: 'quokka' });
      return personId;
    };
    closed = await leaver('case.closed');
    await call('POST', `/api/people/${closed}/case/close`);
    await call('POST', `/api/people/${await leaver('case.back')}/return`);
  });

  it.each([
    ["kept = '[]'", 'changed'],
    ["items = '[]'", 'changed'],
    ['closed_at = NULL', 'changed'],
    [null, 'removed'],
  ])('is proved by the journal, which has no reasons: %s', async (set, problem) => {
    expect((await run({ verify: true })).code).toBe(0);
    expect(JSON.stringify(await rows({}))).not.toContain('quokka');
    const db = new Database(join(home, 'devmgr.db'));
    const row = `leaver_case WHERE number = ${closed.slice('PER-'.length)}`;
    db.exec(set === null ? `DELETE FROM ${row}` : `UPDATE ${row.replace('WHERE', `SET ${set} WHERE`)}`);
    db.close();
    const { code, stdout } = await run({ verify: true, json: true });
    expect([code, JSON.parse(stdout).problems]).toEqual([1, [`the case of ${closed} was ${problem} without an entry`]]);
  });
});
