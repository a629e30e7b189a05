/** The journal's entries of logins, refusals, guesses and downloads: they cause no notification and contain no password. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { audit } from '../../daemon/maintenance/audit.ts';
import type { AuditOptions } from '../../src/contract/programs.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { data, deviceIn, register } from '../support/fleet.ts';
import { runDaemonProgram } from '../support/programs.ts';
import { openStream } from '../support/stream-client.ts';

const secret = 'typed-my-password-here';
let daemon: TestDaemon;
let eve: { readonly token: string };
let device: { readonly deviceId: string };
let serialNumber: string;
const everything: Omit<AuditOptions, 'home'> = { json: false, device: null, since: null, limit: null, verify: false };
const run = (options: Partial<AuditOptions>) =>
  runDaemonProgram(audit, { ...everything, home: daemon.home, ...options });
const rows = async (options: Partial<AuditOptions>) =>
  (await run({ json: true, ...options })).stdout
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line));
const download = (path: string, headers = {}) =>
  fetch(daemon.url + path, { headers: { authorization: `Bearer ${daemon.adminToken}`, ...headers } });

beforeAll(async () => {
  daemon = await startTestDaemon();
  eve = await daemon.user('eve', 'VIEWER');
  await daemon.user('gone', 'VIEWER');
  data(await daemon.call('PUT', '/api/users/USR-3', { disabled: true }));
  const wrong = (username: string) =>
    daemon.call('POST', '/api/auth/login', { username, password: 'not the password' }, { token: null });
  for (let i = 0; i < 3; i++) expect((await wrong('admin')).code).toBe(1003);
  for (const username of [secret, 'gone']) expect((await wrong(username)).code).toBe(1002);
  const added = await register(daemon);
  device = added;
  serialNumber = added.serialNumber;
  for (let i = 0; i < 2; i++)
    expect(
      (await daemon.call('POST', `/api/devices/${device.deviceId}/lock`, { reason: 'x' }, { token: eve.token })).code,
    ).toBe(2007);
  const activation = { deviceId: device.deviceId, activationCode: 'AAAA-AAAA-AAAA-AAAA', userId: 'alice' };
  expect((await daemon.call('POST', '/api/devices/activate', activation)).code).toBe(2003);
  const retirement = { reason: 'x', confirmPassword: 'not the password' };
  expect((await daemon.call('POST', `/api/devices/${device.deviceId}/deactivate`, retirement)).code).toBe(1003);
  const active = await deviceIn('ACTIVE', daemon);
  const form = new FormData();
  form.set('file', new Blob(['backup']), 'key.bak');
  const made = await daemon.call('POST', `/api/devices/${active.deviceId}/backups`, undefined, { raw: form });
  const file = `/api/devices/${active.deviceId}/backups/${data(made).backupId}/download`;
  const first = await download(file);
  expect([first.status, await first.text()]).toEqual([200, 'backup']);
  expect((await download(file, { 'if-none-match': first.headers.get('etag')! })).status).toBe(304);
  const app = new FormData();
  app.set('platform', 'ANDROID');
  app.set('version', '1.0.0');
  app.set('file', new Blob(['package']), 'devmgr.apk');
  const uploaded = await daemon.call('POST', '/api/app-versions/upload', undefined, { raw: app });
  for (let i = 0; i < 2; i++) await (await download(`/api/app-versions/${data(uploaded).versionId}/download`)).text();
}, 30_000);
afterAll(() => daemon?.stop());

it('nothing is written for each of them; a stop writes all sums', async () => {
  const before = await rows({});
  expect(before.filter(({ type }) => /LOGIN|REFUSED|FAILED|WRONG|DOWNLOADED/.test(type))).toEqual([]);
  await daemon.restart();
  const types = (await rows({ since: { id: before.at(-1).id } })).map(({ type, user, deviceId, details }) => {
    const { address, first, last, ...rest } = details;
    expect([address, first <= last]).toEqual(['127.0.0.1', true]);
    return [type, user, deviceId, rest];
  });
  const active = expect.stringMatching(/^DEV-/);
  expect(types).toEqual(
    expect.arrayContaining([
      ['LOGIN_SUCCEEDED', 'admin', null, { count: 1 }],
      ['LOGIN_SUCCEEDED', 'eve', null, { count: 1 }],
      ['LOGIN_FAILED', 'admin', null, { reason: 'wrong password', count: 3 }],
      ['LOGIN_FAILED', null, null, { reason: 'unknown account', count: 1 }],
      ['LOGIN_FAILED', 'gone', null, { reason: 'disabled account', count: 1 }],
      ['OPERATION_REFUSED', 'eve', null, { role: 'VIEWER', operation: 'lockDevice', count: 2 }],
      ['ACTIVATION_CODE_WRONG', 'admin', device.deviceId, { count: 1 }],
      ['CONFIRMATION_FAILED', 'admin', null, { field: 'confirmPassword', count: 1 }],
      ['BACKUP_DOWNLOADED', 'admin', active, { backupId: 'BKP-1', count: 1 }],
      ['PACKAGE_DOWNLOADED', 'admin', null, { versionId: 'APP-1', count: 2 }],
    ]),
  );
  expect(types).toHaveLength(11);
});

it('a name that no account has is nowhere: it may be a password', async () => {
  for (const file of ['devmgr.db', 'devmgr.db-wal', 'journal-heads'])
    expect((await readFile(join(daemon.home, file)).catch(() => Buffer.alloc(0))).includes(secret)).toBe(false);
});

it('are shown in plain English and found by user, device and type', async () => {
  const text = async (options: Partial<AuditOptions>) => (await run(options)).stdout;
  expect(await text({ types: ['LOGIN_FAILED'] })).toMatch(
    /admin {2}could not log in: wrong password from 127\.0\.0\.1, 3 times between 20.*Z and 20.*Z\n/,
  );
  expect(await text({ types: ['LOGIN_FAILED'] })).toMatch(/unknown account {2}could not log in: unknown account from/);
  expect(await text({ user: 'eve' })).toMatch(/eve {2}was refused lockDevice with the role VIEWER from 127/);
  expect(await text({ device: serialNumber, types: ['ACTIVATION_CODE_WRONG'] })).toMatch(
    /admin {2}gave an activation code that is wrong or has expired from 127\.0\.0\.1\n$/,
  );
  expect(await text({ types: ['PACKAGE_DOWNLOADED'] })).toMatch(/admin {2}downloaded APP-1 from 127.*2 times/);
});

it('a stream does not send them, and continues after their ids', async () => {
  const last = (await rows({})).at(-1).id as number;
  const stream = await openStream(daemon.url, { token: daemon.adminToken, since: 0 });
  const { deviceId } = await register(daemon);
  await stream.untilSome(frame => (frame.data as { deviceId?: string }).deviceId === deviceId);
  expect(JSON.stringify(stream.frames)).not.toMatch(/LOGIN|REFUSED|CONFIRMATION|WRONG|DOWNLOADED|127\.0\.0\.1/);
  expect(Number((stream.frames.at(-1) as { id?: number }).id)).toBe(last + 1);
  stream.ws.terminate();
  // The last id may be one of an entry that is not sent.
  await daemon.login('admin');
  await daemon.restart();
  const end = (await rows({})).at(-1);
  expect(end.type).toBe('LOGIN_SUCCEEDED');
  const from = await openStream(daemon.url, { token: daemon.adminToken, since: end.id });
  await register(daemon);
  await from.untilSome(({ type }) => type === 'DEVICE_REGISTERED');
  from.ws.terminate();
});

it('the journal with them verifies', async () => {
  expect(await run({ verify: true })).toMatchObject({ code: 0 });
});
