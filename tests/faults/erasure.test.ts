/** After an erasure, no byte of the registry has what names the person, and the journal is still genuine. */
import { mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it, vi } from 'vitest';
import type { DaemonSettings } from '../../daemon/home/settings.ts';
import { audit } from '../../daemon/maintenance/audit.ts';
import { backup } from '../../daemon/maintenance/backup.ts';
import { restore } from '../../daemon/maintenance/restore.ts';
import { adminPassword, startTestDaemon } from '../support/daemon.ts';
import { activation, data, form, register } from '../support/fleet.ts';
import { needsPostgres, PostgresServer } from '../support/postgres.ts';
import { runDaemonProgram } from '../support/programs.ts';
import { patchOp, scimClient } from '../support/scim.ts';

/** Each of them is in the registry before the erasure. */
const planted = {
  formerUserName: 'zq.former.name',
  userName: 'zq.user.name',
  formerName: 'Zqmaiden Display',
  name: 'Zqshown Display',
  givenName: 'Zqgiven',
  familyName: 'Zqfamily',
  formatted: 'Dr. Zqformatted',
  formerEmail: 'zqformer@example.com',
  email: 'zqmail@example.com',
  otherEmail: 'zqother@example.com',
  externalId: 'zq-external-4711',
  thirdEmail: 'zqthird@example.com',
};

function* files(folder: string): Generator<string> {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory()) yield* files(path);
    else if (found?.isFile()) yield path;
  }
}

/** The planted values in the bytes of all files, in upper or lower case. */
function foundIn(folders: readonly string[], skip: (file: string) => boolean = () => false): string[] {
  const found: string[] = [];
  for (const file of folders.flatMap(folder => [...files(folder)])) {
    if (skip(file)) continue;
    const bytes = readFileSync(file, 'latin1').toLowerCase();
    for (const value of Object.values(planted))
      if (bytes.includes(value.toLowerCase())) found.push(`${value} in ${file}`);
  }
  return found;
}

async function erased(server: PostgresServer | null): Promise<void> {
  const url = server ? server.url(await server.database()) : null;
  const settings: Partial<DaemonSettings> = url === null ? {} : { store: { url, env: {} } };
  const daemon = await startTestDaemon(settings);
  const env: Record<string, string> = url === null ? {} : { DEVMGR_STORE: url };
  const verified = () =>
    runDaemonProgram(
      audit,
      { home: daemon.home, json: false, device: null, since: null, limit: null, verify: true },
      env,
    );
  const logs = (file: string) => /\/pg_wal\/|\/log(file)?\b|\.log$/.test(file);
  const folders = server ? [daemon.home, server.folder] : [daemon.home];
  try {
    const scim = await scimClient(daemon);
    const user = (more: object) => ({ schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], active: true, ...more });
    const first = {
      userName: planted.formerUserName,
      externalId: planted.externalId,
      displayName: planted.formerName,
      name: { givenName: planted.givenName, familyName: planted.familyName, formatted: planted.formatted },
      emails: [{ value: planted.formerEmail, type: 'work', primary: true }],
    };
    const made = await scim('POST', '/Users', user(first));
    expect(made.status).toBe(201);
    const device = await register(daemon);
    const key = { 'idempotency-key': 'zq' };
    const bound = activation(device, planted.formerUserName.toUpperCase());
    const { deviceId } = data(await daemon.call('POST', '/api/devices/activate', bound, { headers: key }));
    const file = { name: `${planted.familyName}.bin`, content: 'x' };
    data(
      await daemon.call('POST', `/api/devices/${deviceId}/backups`, undefined, {
        raw: form({ note: `of ${planted.givenName}` }, file),
      }),
    );
    const emails = [
      { value: planted.email, type: 'work', primary: true },
      { value: planted.otherEmail, type: 'home' },
      { value: planted.thirdEmail, type: 'other' },
    ];
    const renamed = { ...first, userName: planted.userName, displayName: planted.name, emails };
    expect((await scim('PUT', `/Users/${made.body.id}`, user(renamed))).status).toBe(200);
    await scim(
      'PATCH',
      `/Users/${made.body.id}`,
      patchOp({ op: 'replace', path: 'emails', value: [{ value: 'none' }] }),
    );
    const { list } = data(await daemon.call('GET', '/api/people/list'));
    const [{ personId }] = list;
    const account = await daemon.user('keeper', 'VIEWER');
    const given = { matches: [{ accountId: account.id, personId }] };
    expect(data(await daemon.call('POST', '/api/people/match', given))).toMatchObject({ success: 1 });
    data(await daemon.call('POST', `/api/people/${personId}/leave`, { reason: 'has left' }));
    const erase = () => daemon.call('POST', `/api/people/${personId}/erase`, { confirmPassword: adminPassword });
    expect(await erase()).toMatchObject({ code: 1001, message: expect.stringContaining('case') });
    const kept = { kind: 'device', id: deviceId, reason: `${planted.familyName} keeps it` };
    data(await daemon.call('POST', `/api/devices/${deviceId}/unlock`, {}));
    data(await daemon.call('POST', `/api/people/${personId}/case/keep`, kept));
    data(await daemon.call('POST', `/api/people/${personId}/case/close`));
    if (server) await server.query('CHECKPOINT');
    const before = foundIn(folders, logs);
    for (const value of Object.values(planted)) expect(before.join('\n')).toContain(value);
    expect(await verified()).toMatchObject({ code: 0 });

    const done = data(await erase());
    expect(done).toMatchObject({ personId, devices: [deviceId] });
    expect(done.remains.map(({ where }: { where: string }) => where)).toContain('backups');
    if (server) await server.query('CHECKPOINT');
    expect(foundIn(folders, logs)).toEqual([]);
    const logged = daemon.logged().toLowerCase();
    expect(Object.values(planted).filter(value => logged.includes(value.toLowerCase()))).toEqual([]);
    const copy = join(mkdtempSync(join(tmpdir(), 'devmgr-erased-')), 'backup');
    expect(await runDaemonProgram(backup, { home: daemon.home, json: true, file: copy }, env)).toMatchObject({
      code: 0,
    });
    expect(foundIn([join(copy, '..')])).toEqual([]);

    const shown = { personId, userName: personId, name: null, email: null, externalId: null, active: false };
    expect(data(await daemon.call('GET', `/api/people/${personId}`))).toMatchObject(shown);
    expect(data(await daemon.call('GET', `/api/devices/${deviceId}`))).toMatchObject({ userId: personId, personId });
    const events = data(await daemon.call('GET', `/api/events?deviceId=${deviceId}&types=DEVICE_ACTIVATED`)).list;
    expect(events).toMatchObject([{ data: { userId: personId } }]);
    const audited = await verified();
    expect([audited.code, audited.stdout]).toEqual([0, expect.any(String)]);
    // A repetition and a return.
    expect(data(await erase())).toMatchObject({ personId, devices: [deviceId] });
    expect(await daemon.call('POST', `/api/people/${personId}/return`)).toMatchObject({ code: 1001 });
    expect(await verified()).toMatchObject({ code: 0 });
  } finally {
    await daemon.stop();
  }
}

it('leaves none of twelve values in SQLite, the home and a new backup', () => erased(null));

it('is carried out again with the same Idempotency-Key until the database is rewritten', async () => {
  const daemon = await startTestDaemon();
  const exec = Database.prototype.exec;
  const rewrites = vi.spyOn(Database.prototype, 'exec').mockImplementation(function (this: Database.Database, text) {
    if (text === 'VACUUM') throw new Database.SqliteError('disk I/O error', 'SQLITE_IOERR');
    return exec.call(this, text);
  });
  try {
    const { personId } = data(await daemon.call('POST', '/api/people', { userName: planted.userName }));
    const path = `/api/people/${personId}`;
    data(await daemon.call('POST', `${path}/leave`, { reason: 'has left' }));
    data(await daemon.call('POST', `${path}/case/close`));
    const options = { headers: { 'idempotency-key': 'erase-1' } };
    const erase = () => daemon.call('POST', `${path}/erase`, { confirmPassword: adminPassword }, options);
    expect(await erase()).toMatchObject({ code: 500 });
    rewrites.mockRestore();
    const done = await erase();
    expect([data(done).personId, done.headers.get('idempotent-replay')]).toEqual([personId, null]);
    expect(foundIn([daemon.home])).toEqual([]);
    expect((await erase()).headers.get('idempotent-replay')).toBe('true');
  } finally {
    rewrites.mockRestore();
    await daemon.stop();
  }
});

it('is repeated over an older backup that was restored, which brings the person back', async () => {
  const daemon = await startTestDaemon();
  try {
    const body = { userName: planted.userName, name: planted.name, email: planted.email };
    const { personId } = data(await daemon.call('POST', '/api/people', body));
    const device = await register(daemon);
    const bound = activation(device, planted.userName);
    const { deviceId } = data(await daemon.call('POST', '/api/devices/activate', bound));
    data(await daemon.call('POST', `/api/people/${personId}/leave`, { reason: 'has left' }));
    data(await daemon.call('POST', `/api/people/${personId}/case/close`));
    const file = join(mkdtempSync(join(tmpdir(), 'devmgr-older-')), 'backup');
    const made = await runDaemonProgram(backup, { home: daemon.home, json: true, file });
    expect(made).toMatchObject({ code: 0 });
    const path = `/api/people/${personId}`;
    const erase = async () => data(await daemon.call('POST', `${path}/erase`, { confirmPassword: adminPassword }));
    const { remains } = await erase();
    expect(remains[0]).toMatchObject({ where: 'backups', what: expect.stringContaining('after a restore') });
    expect(foundIn([daemon.home])).toEqual([]);

    await daemon.stopKeepingHome();
    expect(await runDaemonProgram(restore, { home: daemon.home, json: true, file })).toMatchObject({ code: 0 });
    await daemon.startAgain();
    expect(data(await daemon.call('GET', path))).toMatchObject(body);
    expect(await erase()).toMatchObject({ personId, devices: [deviceId] });
    expect(foundIn([daemon.home])).toEqual([]);
    const options = { home: daemon.home, json: false, device: null, since: null, limit: null, verify: true };
    expect(await runDaemonProgram(audit, options)).toMatchObject({ code: 0 });
  } finally {
    await daemon.stop();
  }
});

needsPostgres('an erasure in PostgreSQL', () => {
  it('leaves none of twelve values in the files of the database and a new backup', async () => {
    const server = await PostgresServer.start();
    try {
      await erased(server);
    } finally {
      await server.stop();
    }
  });
});
