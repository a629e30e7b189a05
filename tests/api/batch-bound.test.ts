/** Batch registration of devices that are in use already: each is registered and bound in one step. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { activation, data, freshSerial, register, registration } from '../support/fleet.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon?.stop());

let made = 0;
const freshName = () => `holder.${++made}`;
const call = (method: string, path: string, body?: object, more: object = {}) => daemon.call(method, path, body, more);
const batch = (devices: readonly unknown[], more: object = {}) =>
  call('POST', '/api/devices/batch-register', { devices }, more);
const resultsOf = async (devices: readonly unknown[]) => data(await batch(devices)).results;
const detail = async (deviceId: string) => data(await call('GET', `/api/devices/${deviceId}`));
const entriesOf = async (deviceId: string) => data(await call('GET', `/api/events?deviceId=${deviceId}`)).list;
const isRegistered = async (serialNumber: string) =>
  data(await call('GET', `/api/devices/list?serialNumber=${serialNumber}`)).pagination.total === 1;
const addPerson = async () => data(await call('POST', '/api/people', { userName: freshName() }));
const leave = async (personId: string) =>
  data(await call('POST', `/api/people/${personId}/leave`, { reason: 'has left' }));

it('registers and binds an item with userId, and only registers the others', async () => {
  const [ada, plain, none, empty] = [
    registration({ userId: ' Ada ' }),
    registration(),
    registration({ userId: null }),
    registration({ userId: ' ' }),
  ];
  const { data: result, message } = await batch([ada, plain, none, empty]);
  expect(message).toBe('success');
  expect(result).toMatchObject({ total: 4, success: 4, failed: 0 });
  const [first, ...others] = result.results;
  expect(first).toEqual({
    serialNumber: ada.serialNumber,
    deviceId: expect.stringMatching(/^DEV-\d+$/),
    activationCode: expect.any(String),
    status: 'success',
    message: 'registered and activated',
    deviceStatus: 'ACTIVE',
  });
  for (const other of others) {
    expect(other).not.toHaveProperty('deviceStatus');
    expect(await detail(other.deviceId)).toMatchObject({ status: 'INACTIVE', userId: null, activatedAt: null });
  }
});

it('leaves the device and its entries as registration and activation do', async () => {
  const [{ deviceId }] = await resultsOf([
    registration({ userId: 'alice', tags: { lot: '7' }, firmwareVersion: '5.4.3' }),
  ]);
  const usual = await register(daemon, { tags: { lot: '7' }, firmwareVersion: '5.4.3' });
  data(await call('POST', '/api/devices/activate', activation(usual)));
  const [one, other] = [await detail(deviceId), await detail(usual.deviceId)];
  const own = ['deviceId', 'serialNumber', 'activationCode', 'activationCodeExpiresAt', 'createdAt', 'activatedAt'];
  for (const field of own) delete other[field];
  expect(one).toMatchObject(other);
  expect(one.activatedAt).toBe(one.createdAt);
  const [mine, theirs] = [await entriesOf(deviceId), await entriesOf(usual.deviceId)];
  expect(mine.map(({ type }: { type: string }) => type)).toEqual(['DEVICE_REGISTERED', 'DEVICE_ACTIVATED']);
  expect(mine[1].id).toBe(mine[0].id + 1);
  expect(mine[1].data).toEqual({ ...theirs[1].data, deviceId });
  const stats = data(await call('GET', '/api/devices/list?userId=ALICE&status=ACTIVE'));
  expect(stats.list.map((item: { deviceId: string }) => item.deviceId).sort()).toEqual(
    [deviceId, usual.deviceId].sort(),
  );
});

it('counts bound devices as ACTIVE ones', async () => {
  const before = data(await call('GET', '/api/statistics')).byStatus;
  await batch([registration({ userId: freshName() }), registration({ userId: freshName() }), registration()]);
  const after = data(await call('GET', '/api/statistics')).byStatus;
  expect([after.ACTIVE - before.ACTIVE, after.INACTIVE - before.INACTIVE]).toEqual([2, 1]);
});

it('gives the device to the person of that name, however it is written, and it ends with the person', async () => {
  const { personId, userName } = await addPerson();
  const [{ deviceId }] = await resultsOf([registration({ userId: userName.toUpperCase() })]);
  expect(await detail(deviceId)).toMatchObject({ personId, userId: userName.toUpperCase(), status: 'ACTIVE' });
  expect((await leave(personId)).locked).toEqual([deviceId]);
});

it('fails an item whose person has left, and registers nothing for it', async () => {
  const { personId, userName } = await addPerson();
  await leave(personId);
  const [gone, other] = [registration({ userId: userName.toUpperCase() }), registration({ userId: freshName() })];
  const [refused, accepted] = await resultsOf([gone, other]);
  expect(refused).toEqual({
    serialNumber: gone.serialNumber,
    status: 'failed',
    code: 1001,
    message: expect.stringContaining('this person has left'),
  });
  expect(accepted).toMatchObject({ status: 'success', deviceStatus: 'ACTIVE' });
  expect(await isRegistered(gone.serialNumber)).toBe(false);
});

it('fails an item whose name is not that of a person if the policy requires persons', async () => {
  const policy = { personsRequired: false, leavers: 'lock', leaverDelayHours: 0 };
  const { userName } = await addPerson();
  data(await call('PUT', '/api/policies/people', { ...policy, personsRequired: true }));
  try {
    const devices = [registration({ userId: freshName() }), registration({ userId: userName }), registration()];
    expect(await resultsOf(devices)).toMatchObject([
      { status: 'failed', code: 1001, message: expect.stringContaining('is not the user name of a person') },
      { status: 'success', deviceStatus: 'ACTIVE' },
      { status: 'success' },
    ]);
  } finally {
    data(await call('PUT', '/api/policies/people', policy));
  }
});

it.each([
  ['a number', 7, /userId/],
  ['a text of 129 characters', 'x'.repeat(129), /userId.*128/],
  ['a text with a line break', 'a\nb', /userId/],
])('fails an item whose userId is %s', async (_what, userId, message) => {
  const [refused, accepted] = await resultsOf([registration({ userId }), registration({ userId: 'x'.repeat(128) })]);
  expect(refused).toMatchObject({ status: 'failed', code: 1001, message: expect.stringMatching(message) });
  expect(accepted).toMatchObject({ status: 'success', deviceStatus: 'ACTIVE' });
});

it('reports a registered serial number as 2006 whatever the name is, and leaves the device as it is', async () => {
  const { deviceId, serialNumber } = await register(daemon);
  const { personId, userName } = await addPerson();
  await leave(personId);
  const twin = freshSerial();
  const again = [userName, freshName()].map(userId => registration({ serialNumber, userId }));
  const twins = ['first', 'second'].map(userId => registration({ serialNumber: twin, userId }));
  const results = await resultsOf([...again, ...twins]);
  expect(results.map(({ code }: { code?: number }) => code)).toEqual([2006, 2006, undefined, 2006]);
  expect(await detail(deviceId)).toMatchObject({ status: 'INACTIVE', userId: null, version: 1 });
  expect(await detail(results[2].deviceId)).toMatchObject({ userId: 'first' });
});

it('returns the first response for a repeated idempotency key, and binds nothing twice', async () => {
  const devices = [registration({ userId: freshName() })];
  const headers = { 'idempotency-key': freshSerial('key') };
  const first = await batch(devices, { headers });
  const { deviceId } = data(first).results[0];
  expect((await batch(devices, { headers })).data).toEqual(first.data);
  expect(await entriesOf(deviceId)).toHaveLength(2);
});

it('is open to a DEALER and closed to a VIEWER, as activation is', async () => {
  const { token: dealer } = await daemon.user(freshName(), 'DEALER');
  const { token: viewer } = await daemon.user(freshName(), 'VIEWER');
  const devices = () => [registration({ userId: freshName() })];
  expect(data(await batch(devices(), { token: dealer })).results[0]).toMatchObject({ deviceStatus: 'ACTIVE' });
  expect((await batch(devices(), { token: viewer })).code).toBe(2007);
});

it('has no userId in the registration of one device', async () => {
  const { deviceId } = await register(daemon, { userId: 'alice' });
  expect(await detail(deviceId)).toMatchObject({ status: 'INACTIVE', userId: null });
});

it('binds 10,000 devices of as many names in one request', async () => {
  const prefix = freshSerial('many');
  const devices = Array.from({ length: 10_000 }, (_, n) => ({
    ...registration({ userId: `${prefix}.${n % 5000}` }),
    serialNumber: `${prefix}-${n}`,
  }));
  expect(data(await batch(devices))).toMatchObject({ total: 10_000, success: 10_000, failed: 0 });
  expect(data(await call('GET', `/api/devices/list?userId=${prefix}.7`)).pagination.total).toBe(2);
});
