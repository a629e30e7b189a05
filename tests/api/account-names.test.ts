/** Devices that are bound to the id of an account, and the one change of a userId: to the name of that account. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { data, register } from '../support/fleet.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon?.stop());

const put = (deviceId: string, body: object) => daemon.call('PUT', `/api/devices/${deviceId}`, body);
const userOf = async (deviceId: string) => data(await daemon.call('GET', `/api/devices/${deviceId}`)).userId;

async function boundTo(userId: string): Promise<string> {
  const { deviceId, activationCode } = await register(daemon);
  await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId });
  return deviceId;
}

it('a device that is bound to the id of an account can be bound to its name, and is found by it then', async () => {
  const account = await daemon.user('renate', 'VIEWER');
  const id = data(await daemon.call('GET', '/api/users/list?size=100')).list.find(
    ({ username }: { username: string }) => username === 'renate',
  ).id as string;
  expect(account).toBeDefined();
  const deviceId = await boundTo(id);
  expect((await put(deviceId, { userId: 'renate' })).code).toBe(200);
  expect(await userOf(deviceId)).toBe('renate');
  const listed = async (userId: string) => data(await daemon.call('GET', `/api/devices/list?userId=${userId}`)).list;
  expect(await listed('renate')).toMatchObject([{ deviceId }]);
  expect(await listed(id)).toEqual([]);
  const { list } = data(await daemon.call('GET', `/api/events?deviceId=${deviceId}&types=DEVICE_UPDATED`));
  expect(list[0].changes).toEqual([{ field: 'userId', before: id, after: 'renate' }]);
});

it('any other userId changes nothing', async () => {
  await daemon.user('sabine', 'VIEWER');
  const deviceId = await boundTo('alice');
  for (const userId of ['sabine', 'mallory', 'alice'])
    expect(await put(deviceId, { userId })).toMatchObject({ status: 400, code: 1001 });
  expect((await put(deviceId, { note: 'kept', userId: 'sabine' })).code).toBe(200);
  expect(await userOf(deviceId)).toBe('alice');
});

it('a device does not get the name of an account whose person has left', async () => {
  await daemon.user('leonie', 'VIEWER');
  const { list } = data(await daemon.call('GET', '/api/users/list?size=100'));
  const { id } = list.find(({ username }: { username: string }) => username === 'leonie');
  const { personId } = data(await daemon.call('POST', '/api/people', { userName: 'leonie' }));
  await daemon.call('POST', `/api/people/${personId}/leave`, { reason: 'left' });
  const deviceId = await boundTo(id);
  expect(await put(deviceId, { userId: 'leonie' })).toMatchObject({
    code: 1001,
    message: expect.stringContaining('has left'),
  });
  expect(await userOf(deviceId)).toBe(id);
});

it('a leave ends a device that is bound to the id of an account of the person', async () => {
  await daemon.user('Arno', 'VIEWER');
  const { list } = data(await daemon.call('GET', '/api/users/list?size=100'));
  const { id } = list.find(({ username }: { username: string }) => username === 'Arno');
  const deviceId = await boundTo(id);
  const { personId } = data(await daemon.call('POST', '/api/people', { userName: 'arno' }));
  const left = data(await daemon.call('POST', `/api/people/${personId}/leave`, { reason: 'left' }));
  expect(left).toMatchObject({ locked: [deviceId], accounts: [id] });
  expect(data(await daemon.call('GET', `/api/devices/${deviceId}`))).toMatchObject({
    status: 'LOCKED',
    userId: 'arno',
    personId,
  });
  const { token } = await daemon.user('arnos-dealer', 'DEALER');
  expect((await daemon.call('POST', `/api/devices/${deviceId}/unlock`, {}, { token })).code).toBe(2007);
});
