/** What is held about one person, through the interface. */
import { mkdtemp, readFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { devmgr } from '../cli/program.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { activation, backUp, data, register } from '../support/fleet.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon?.stop());

const call = (method: string, path: string, body?: object) => daemon.call(method, path, body);

it('reports all that is held about a person, without secrets', async () => {
  const userName = 'report.ada';
  const { personId } = data(
    await call('POST', '/api/people', { userName, name: 'Ada Report', email: 'a@example.com' }),
  );
  const device = await register(daemon);
  const { deviceId } = data(await call('POST', '/api/devices/activate', activation(device, userName)));
  data(await call('PUT', `/api/devices/${deviceId}`, { note: 'of Ada', tags: { desk: 'ada' } }));
  const { backupId } = data(await backUp(daemon, deviceId));
  const account = await daemon.user('Report.Ada', 'ADMIN');
  const token = { name: 'reported', role: 'VIEWER', expiresInDays: 1 };
  const made = data(await daemon.call('POST', '/api/tokens', token, { token: account.token }));
  const other = await register(daemon);
  data(await call('POST', '/api/devices/activate', activation(other, 'someone.else')));

  const report = data(await call('GET', `/api/people/${personId}/report`));
  expect(report).toMatchObject({
    personId,
    complete: true,
    person: { userName, name: 'Ada Report', email: 'a@example.com', active: true, leftAt: null },
    devices: [{ deviceId, userId: userName, note: 'of Ada', tags: { desk: 'ada' }, backups: [{ backupId }] }],
    accounts: [{ username: 'Report.Ada', role: 'ADMIN', tokens: [{ tokenId: made.tokenId, name: 'reported' }] }],
    credentials: [],
    receipts: [],
    refused: [],
    case: null,
  });
  const types = report.events.map(({ type }: { type: string }) => type);
  expect(types).toEqual(['DEVICE_REGISTERED', 'DEVICE_ACTIVATED', 'DEVICE_UPDATED', 'BACKUP_CREATED']);
  expect(report.events[1].data.userId).toBe(userName);
  for (const secret of [made.token, device.activationCode, account.token, 'salt', 'passwordHash'])
    expect(JSON.stringify(report)).not.toContain(secret);

  await call('POST', `/api/people/${personId}/leave`, { reason: 'has left' });
  const after = data(await call('GET', `/api/people/${personId}/report`));
  expect(after.case).toMatchObject({ opened: after.person.leftAt, closed: null });
});

it('is refused to others than an ADMIN, and for an unknown person', async () => {
  const { token } = await daemon.user('dealer', 'DEALER');
  expect(await daemon.call('GET', '/api/people/PER-1/report', undefined, { token })).toMatchObject({ code: 2007 });
  expect(await call('GET', '/api/people/PER-999/report')).toMatchObject({ code: 404 });
});

it('is written to a file that only its user can read', async () => {
  const { personId } = data(await call('POST', '/api/people', { userName: 'report.file' }));
  const file = join(await mkdtemp(join(tmpdir(), 'devmgr-report-')), 'report.json');
  const env = { DEVMGR_TOKEN: daemon.adminToken, DEVMGR_SERVER: daemon.url };
  expect(await devmgr(['people', 'report', personId, '--out', file], { env })).toMatchObject({ code: 0 });
  expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ personId, person: { userName: 'report.file' } });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await devmgr(['people', 'report', personId, '--out', file], { env })).toMatchObject({ code: 2 });
});
