/** Which operation is allowed in which state of a device: a test for each cell of the table, and the effects of each change. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DeviceStatus, deviceStatuses } from '../../src/contract/values.ts';
import { type Answer, adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { activation, backUp, data, deviceIn, registration, type TestDevice } from '../support/fleet.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon?.stop());

const post = (path: string, body: object) => daemon.call('POST', path, body);
const detail = async ({ deviceId }: TestDevice) => data(await daemon.call('GET', `/api/devices/${deviceId}`));
/** The fields of a device that show its changes. */
const trace = async (device: TestDevice) => JSON.stringify(await detail(device));

const confirmPassword = adminPassword;
const operations: Record<string, (device: TestDevice) => Promise<Answer>> = {
  activate: device => post('/api/devices/activate', activation(device)),
  lock: ({ deviceId }) => post(`/api/devices/${deviceId}/lock`, { reason: 'reported lost' }),
  unlock: ({ deviceId }) => post(`/api/devices/${deviceId}/unlock`, { note: 'found again' }),
  deactivate: ({ deviceId }) => post(`/api/devices/${deviceId}/deactivate`, { reason: 'worn out', confirmPassword }),
  update: ({ deviceId }) => daemon.call('PUT', `/api/devices/${deviceId}`, { note: 'drawer 3' }),
  'new activation code': ({ deviceId }) =>
    post('/api/devices/generate-activation-code', { deviceId, reason: 'code was lost' }),
  'record of a use': ({ deviceId }) => post(`/api/devices/${deviceId}/usage`, { durationSeconds: 95 }),
  backup: ({ deviceId }) => backUp(daemon, deviceId),
  'list of backups': ({ deviceId }) => daemon.call('GET', `/api/devices/${deviceId}/backups/list`),
  read: ({ deviceId }) => daemon.call('GET', `/api/devices/${deviceId}`),
};

/** For each state in the order of `deviceStatuses`: the state afterwards, or the code of the error. */
const table: Record<string, readonly (DeviceStatus | number)[]> = {
  activate: ['ACTIVE', 2002, 2004, 2005],
  lock: [1001, 'LOCKED', 2004, 2005],
  unlock: [1001, 1001, 'ACTIVE', 2005],
  deactivate: ['DEACTIVATED', 'DEACTIVATED', 'DEACTIVATED', 2005],
  update: ['INACTIVE', 'ACTIVE', 2004, 2005],
  'new activation code': ['INACTIVE', 'ACTIVE', 'LOCKED', 2005],
  'record of a use': [1001, 'ACTIVE', 2004, 2005],
  backup: [1001, 'ACTIVE', 2004, 2005],
  'list of backups': ['INACTIVE', 'ACTIVE', 'LOCKED', 'DEACTIVATED'],
  read: ['INACTIVE', 'ACTIVE', 'LOCKED', 'DEACTIVATED'],
};
const cells = Object.entries(table).flatMap(([operation, row]) =>
  deviceStatuses.map((state, i) => ({ operation, state, expected: row[i]! })),
);
const allowed = cells.filter(({ expected }) => typeof expected === 'string');
const refused = cells.filter(({ expected }) => typeof expected === 'number');

describe('a state allows', () => {
  it.each(allowed)('$operation of a device that is $state; it is then $expected', async cell => {
    const device = await deviceIn(cell.state, daemon);
    const response = await operations[cell.operation]!(device);
    expect(response).toMatchObject({ status: 200, code: 200 });
    expect((await detail(device)).status).toBe(cell.expected);
  });
});

describe('a state refuses', () => {
  it.each(refused)('$operation of a device that is $state with $expected, and nothing changes', async cell => {
    const device = await deviceIn(cell.state, daemon);
    const before = await trace(device);
    const response = await operations[cell.operation]!(device);
    expect(response).toMatchObject({ status: 400, code: cell.expected, data: null });
    expect(await trace(device)).toBe(before);
  });

  it.each([
    ['lock', 'INACTIVE', /not active/],
    ['unlock', 'INACTIVE', /not locked/],
    ['unlock', 'ACTIVE', /not locked/],
  ] as const)('%s of a device that is %s is a parameter error that explains why', async (operation, state, words) => {
    const response = await operations[operation]!(await deviceIn(state, daemon));
    expect(response.message).toMatch(words);
  });
});

it('the state is checked before the password: for a DEACTIVATED device, a wrong one is not compared', async () => {
  const { deviceId } = await deviceIn('DEACTIVATED', daemon);
  const body = { reason: 'worn out', confirmPassword: 'wrong one' };
  expect(await post(`/api/devices/${deviceId}/deactivate`, body)).toMatchObject({ status: 400, code: 2005 });
  expect(await post('/api/devices/DEV-999999/deactivate', body)).toMatchObject({ status: 404, code: 2001 });
});

describe('a restore', () => {
  const restore = async (state: DeviceStatus) => {
    const device = await deviceIn('ACTIVE', daemon);
    const { backupId } = data(await backUp(daemon, device.deviceId));
    if (state === 'LOCKED') data(await operations.lock!(device));
    if (state === 'DEACTIVATED') data(await operations.deactivate!(device));
    return post(`/api/devices/${device.deviceId}/backups/${backupId}/restore`, {});
  };
  it.each(['ACTIVE', 'LOCKED'] as const)('succeeds for a device that is %s', async state => {
    expect(await restore(state)).toMatchObject({ code: 200, data: { restoredAt: expect.any(String) } });
  });
  it('is refused with 2005 for a device that is DEACTIVATED', async () => {
    expect(await restore('DEACTIVATED')).toMatchObject({ status: 400, code: 2005 });
  });
  it('of an INACTIVE device fails for lack of a backup, not because of the state', async () => {
    const { deviceId } = await deviceIn('INACTIVE', daemon);
    expect(await post(`/api/devices/${deviceId}/backups/BKP-999999/restore`, {})).toMatchObject({ code: 3001 });
  });
});

describe('the effects of a change', () => {
  it('registration: INACTIVE, not bound to a user, with a code that expires in a year', async () => {
    const found = await detail(await deviceIn('INACTIVE', daemon));
    expect(found).toMatchObject({
      userId: null,
      activatedAt: null,
      lockedAt: null,
      deactivatedAt: null,
      updatedAt: null,
    });
    const days = (Date.parse(found.activationCodeExpiresAt) - Date.parse(found.createdAt)) / 86_400_000;
    expect(days).toBe(365);
  });

  it('activation: the user and the time are stored', async () => {
    const device = await deviceIn('INACTIVE', daemon);
    const response = data(await operations.activate!(device));
    expect(response).toEqual({
      deviceId: device.deviceId,
      status: 'ACTIVE',
      userId: 'alice',
      activatedAt: expect.any(String),
      version: 2,
    });
    expect(await detail(device)).toMatchObject({ userId: 'alice', activatedAt: response.activatedAt });
  });

  it('activation for a user of this system: the detail shows name and e-mail address', async () => {
    const { id } = await daemon.user('bound-user', 'VIEWER');
    data(await daemon.call('PUT', `/api/users/${id}`, { email: 'bound@example.com' }));
    const device = await deviceIn('INACTIVE', daemon);
    data(await post('/api/devices/activate', activation(device, id)));
    expect(await detail(device)).toMatchObject({ userName: 'bound-user', userEmail: 'bound@example.com' });
  });

  it('the e-mail address of the bound user is shown to an ADMIN only, not to that user either', async () => {
    const { id, token } = await daemon.user('bound-viewer', 'VIEWER');
    const dealer = await daemon.user('bound-dealer', 'DEALER');
    data(await daemon.call('PUT', `/api/users/${id}`, { email: 'viewer@example.com' }));
    const device = await deviceIn('INACTIVE', daemon);
    data(await post('/api/devices/activate', activation(device, id)));
    for (const caller of [token, dealer.token]) {
      const shown = await daemon.call('GET', `/api/devices/${device.deviceId}`, undefined, { token: caller });
      expect(data(shown)).toMatchObject({ userName: 'bound-viewer', userEmail: null });
    }
  });

  it('lock: reason and time are stored; the note does not overwrite that of the device', async () => {
    const device = await deviceIn('ACTIVE', daemon);
    data(await operations.update!(device));
    const response = data(
      await post(`/api/devices/${device.deviceId}/lock`, { reason: 'stolen', note: 'police told' }),
    );
    expect(response).toEqual({
      deviceId: device.deviceId,
      status: 'LOCKED',
      lockedAt: expect.any(String),
      lockReason: 'stolen',
      version: 4,
    });
    expect(await detail(device)).toMatchObject({ lockReason: 'stolen', lockedAt: response.lockedAt, note: 'drawer 3' });
  });

  it('unlock: reason and time of the lock are cleared; the body is optional', async () => {
    const device = await deviceIn('LOCKED', daemon);
    const response = data(await daemon.call('POST', `/api/devices/${device.deviceId}/unlock`));
    expect(response).toEqual({
      deviceId: device.deviceId,
      status: 'ACTIVE',
      unlockedAt: expect.any(String),
      version: 4,
    });
    expect(await detail(device)).toMatchObject({ lockReason: null, lockedAt: null, userId: 'alice' });
  });

  it('deactivation: the time is stored, and the user remains', async () => {
    const device = await deviceIn('ACTIVE', daemon);
    const response = data(await operations.deactivate!(device));
    expect(response).toEqual({
      deviceId: device.deviceId,
      status: 'DEACTIVATED',
      deactivatedAt: expect.any(String),
      version: 3,
    });
    expect(await detail(device)).toMatchObject({ deactivatedAt: response.deactivatedAt, userId: 'alice' });
  });

  it('update: absent fields keep their values, null clears', async () => {
    const { deviceId } = await deviceIn('ACTIVE', daemon);
    const put = async (body: object) => data(await daemon.call('PUT', `/api/devices/${deviceId}`, body));
    expect(await put({ firmwareVersion: '1.0.4' })).toMatchObject({ deviceId, firmwareVersion: '1.0.4', note: null });
    expect(await put({ note: 'drawer 3' })).toMatchObject({ firmwareVersion: '1.0.4', note: 'drawer 3' });
    expect(await put({ firmwareVersion: null })).toMatchObject({ firmwareVersion: null, note: 'drawer 3' });
  });

  it('new activation code: the earlier one is invalid, the new one activates', async () => {
    const device = await deviceIn('INACTIVE', daemon);
    const { deviceId } = device;
    const response = data(
      await post('/api/devices/generate-activation-code', { deviceId, validityDays: 2, reason: 'lost' }),
    );
    expect(response.oldActivationCode).toBe(device.activationCode);
    expect(response.activationCode).not.toBe(device.activationCode);
    expect(Date.parse(response.expiresAt) - Date.parse(response.generatedAt)).toBe(2 * 86_400_000);
    expect(await operations.activate!(device)).toMatchObject({ code: 2003 });
    expect(
      await post('/api/devices/activate', { deviceId, activationCode: response.activationCode, userId: 'bob' }),
    ).toMatchObject({ code: 200 });
  });

  it('use: count, total duration and time of the last use', async () => {
    const device = await deviceIn('ACTIVE', daemon);
    const use = (durationSeconds: number) => post(`/api/devices/${device.deviceId}/usage`, { durationSeconds });
    data(await use(30));
    const response = data(await use(95));
    expect(response).toMatchObject({ totalUsageCount: 2, totalUsageDuration: 125 });
    const found = await detail(device);
    expect(found.statistics).toMatchObject({ totalUsageCount: 2, totalUsageDuration: 125 });
    expect(found.lastUsedAt).toBe(response.lastUsedAt);
  });

  it('backup: count and time of the last backup', async () => {
    const device = await deviceIn('ACTIVE', daemon);
    data(await backUp(daemon, device.deviceId));
    const { createdAt } = data(await backUp(daemon, device.deviceId));
    expect((await detail(device)).statistics).toMatchObject({ backupCount: 2, lastBackupAt: createdAt });
  });
});

describe('of simultaneous requests', () => {
  it('exactly one activation succeeds; the others get 2002', async () => {
    const device = await deviceIn('INACTIVE', daemon);
    const users = Array.from({ length: 8 }, (_, i) => `user-${i}`);
    const responses = await Promise.all(users.map(user => post('/api/devices/activate', activation(device, user))));
    expect(responses.map(({ code }) => code).sort()).toEqual([200, ...Array(7).fill(2002)]);
    const winner = users[responses.findIndex(({ code }) => code === 200)];
    expect((await detail(device)).userId).toBe(winner);
  });

  it('exactly one registration of a serial number succeeds; the others get 2006', async () => {
    const body = registration({ serialNumber: 'RACE-1' });
    const responses = await Promise.all(Array.from({ length: 8 }, () => post('/api/devices/register', body)));
    expect(responses.map(({ code }) => code).sort()).toEqual([200, ...Array(7).fill(2006)]);
  });

  it('exactly one lock succeeds; the others get 2004', async () => {
    const device = await deviceIn('ACTIVE', daemon);
    const responses = await Promise.all(Array.from({ length: 8 }, () => operations.lock!(device)));
    expect(responses.map(({ code }) => code).sort()).toEqual([200, ...Array(7).fill(2004)]);
  });
});
