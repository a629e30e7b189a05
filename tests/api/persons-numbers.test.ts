/**
 * A person is a number: names are compared in one way, a rename shows at the devices of the person only, and one name can be that
 * of two people.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { activation, data, register } from '../support/fleet.ts';
import { patchOp, type ScimCall, scimClient } from '../support/scim.ts';

let daemon: TestDaemon;
let scim: ScimCall;
beforeAll(async () => {
  daemon = await startTestDaemon();
  scim = await scimClient(daemon);
});
afterAll(() => daemon?.stop());

const bound = async (userId: string): Promise<string> => {
  const device = await register(daemon);
  return data(await daemon.call('POST', '/api/devices/activate', activation(device, userId))).deviceId;
};
const deviceOf = async (deviceId: string, token?: string) =>
  data(await daemon.call('GET', `/api/devices/${deviceId}`, undefined, token === undefined ? {} : { token }));
const add = async (userName: string, externalId?: string) => {
  const { status, body } = await scim('POST', '/Users', { userName, ...(externalId ? { externalId } : {}) });
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id as string;
};
const rename = (id: string, userName: string) =>
  scim('PATCH', `/Users/${id}`, patchOp({ op: 'replace', path: 'userName', value: userName }));
const uniqueness = { status: 409, body: { scimType: 'uniqueness' } };
const setDelay = async (hours: number) =>
  data(
    await daemon.call('PUT', '/api/policies/people', {
      personsRequired: false,
      leavers: 'lock',
      leaverDelayHours: hours,
    }),
  );

it('refuses a new user name that devices without a person have, and that of a former person', async () => {
  const mallory = await add('mallory');
  const [carols, mallorys] = [await bound('carol'), await bound('mallory')];
  for (const name of ['carol', 'CAROL']) expect(await rename(mallory, name)).toMatchObject(uniqueness);
  expect(await deviceOf(carols)).toMatchObject({ userId: 'carol', personId: null });
  for (const name of ['mallory.2', 'Mallory', 'mallory']) {
    expect((await rename(mallory, name)).status).toBe(200);
    expect(await deviceOf(mallorys)).toMatchObject({ userId: name, personId: mallory });
  }
  const former = await add('former');
  await scim('DELETE', `/Users/${former}`);
  expect(await rename(mallory, 'Former')).toMatchObject(uniqueness);
});

it('binds a device to the person whose name is equal, in upper or lower case and each normal form, and finds it so', async () => {
  const id = await add('Zoë.One');
  const devices = [await bound('zoe\u0308.one'), await bound('ZOË.ONE')];
  expect(await deviceOf(devices[0]!)).toMatchObject({ userId: 'zoe\u0308.one', personId: id });
  const query = `userId=${encodeURIComponent('zoë.ONE')}`;
  const { list } = data(await daemon.call('GET', `/api/devices/list?${query}`));
  expect(list.map(({ deviceId }: { deviceId: string }) => deviceId).sort()).toEqual(devices.sort());
  expect(list[0]).toMatchObject({ personId: id });
  const { token } = await daemon.user('numbers-viewer', 'VIEWER');
  expect(await deviceOf(devices[0]!, token)).toMatchObject({ personId: null });
  await scim('PATCH', `/Users/${id}`, patchOp({ op: 'replace', path: 'active', value: false }));
  for (const device of devices) expect(await deviceOf(device)).toMatchObject({ status: 'LOCKED' });
});

it('disables the account of a leaver whatever its case', async () => {
  const account = await daemon.user('Near.Two', 'VIEWER');
  const id = await add('near.two');
  const device = await bound('Near.Two');
  await scim('DELETE', `/Users/${id}`);
  expect(await daemon.call('GET', '/api/users/me', undefined, { token: account.token })).toMatchObject({ code: 1004 });
  expect(await deviceOf(device)).toMatchObject({ status: 'LOCKED', personId: id });
});

it('keeps an account enabled when the name of its person changes only in case', async () => {
  const account = await daemon.user('same.name', 'VIEWER');
  const id = await add('same.name');
  expect((await rename(id, 'Same.Name')).status).toBe(200);
  expect(await daemon.call('GET', '/api/users/me', undefined, { token: account.token })).toMatchObject({ code: 200 });
});

it('takes another external id as another person, and carries out what waits for the first', async () => {
  await setDelay(1);
  try {
    const first = await add('twice', 'ext-1');
    const device = await bound('twice');
    await scim('DELETE', `/Users/${first}`);
    const second = await add('Twice', 'ext-2');
    expect(second).not.toBe(first);
    expect(await deviceOf(device)).toMatchObject({ status: 'ACTIVE', personId: first });
    expect(data(await daemon.call('GET', `/api/people/${first}`))).toMatchObject({ active: false, devices: 1 });
    expect(data(await daemon.call('GET', `/api/people/${second}`))).toMatchObject({ active: true, devices: 0 });
    const other = await bound('twice');
    expect(await deviceOf(other)).toMatchObject({ personId: second });
    expect(await scim('POST', '/Users', { userName: 'twice', externalId: 'ext-3' })).toMatchObject(uniqueness);
    expect(await daemon.call('POST', `/api/people/${first}/return`)).toMatchObject({
      code: 1001,
      message: expect.stringContaining(`is that of ${second} now`),
    });
    await setDelay(0);
    data(await daemon.call('POST', `/api/people/${first}/leave`, { reason: 'left' }));
    expect(await deviceOf(device)).toMatchObject({ status: 'LOCKED' });
    expect(await deviceOf(other)).toMatchObject({ status: 'ACTIVE' });
  } finally {
    await setDelay(0);
  }
});

it('brings a removed person back by the same external id', async () => {
  const first = await add('again', 'ext-9');
  await scim('DELETE', `/Users/${first}`);
  expect(await add('again', 'ext-9')).toBe(first);
});

it('refuses another external id for a person who has left', async () => {
  const id = await add('moved', 'ext-a');
  await scim('PATCH', `/Users/${id}`, patchOp({ op: 'replace', path: 'active', value: false }));
  const back = (externalId: string) =>
    scim('PATCH', `/Users/${id}`, patchOp({ op: 'replace', value: { externalId, active: true } }));
  expect(await back('ext-b')).toMatchObject(uniqueness);
  expect(await back('ext-a')).toMatchObject({ status: 200, body: { active: true } });
});

it('lists devices without a person with those whom they may belong to, and gives them to persons', async () => {
  const zoe = data(
    await daemon.call('POST', '/api/people', {
      userName: 'zoë.smith',
      name: 'Zoë Smith-Ångström',
      email: 'zs@example.com',
    }),
  ).personId;
  const names = ['zoe.smith', 'ZS@example.com', 'zoe smith angstrom', 'someone.else'];
  const devices: string[] = [];
  for (const name of names) devices.push(await bound(name));
  const unmatched = async () => {
    const { list, pagination } = data(await daemon.call('GET', '/api/people/unmatched?size=100'));
    expect(pagination.total).toBe(list.length);
    return new Map<string, object>(list.map((item: { deviceId: string }) => [item.deviceId, item]));
  };
  const before = await unmatched();
  const candidate = (why: string) => [{ personId: zoe, userName: 'zoë.smith', why }];
  const found = [candidate('accents'), candidate('email'), candidate('name'), []];
  for (const [i, candidates] of found.entries())
    expect(before.get(devices[i]!)).toEqual({ deviceId: devices[i], userId: names[i], candidates });
  const matches = [
    { deviceId: devices[0], personId: zoe },
    { deviceId: devices[0], personId: zoe },
    { deviceId: devices[1], personId: 'PER-99999' },
    { deviceId: 'DEV-99999', personId: zoe },
    'no object',
  ];
  const { results, ...counts } = data(await daemon.call('POST', '/api/people/match', { matches }));
  expect(counts).toEqual({ total: 5, success: 2, failed: 3 });
  expect(results.map(({ code }: { code: number }) => code)).toEqual([200, 200, 404, 2001, 1001]);
  expect(await deviceOf(devices[0]!)).toMatchObject({ userId: 'zoë.smith', personId: zoe, status: 'ACTIVE' });
  expect((await unmatched()).has(devices[0]!)).toBe(false);
  const other = data(await daemon.call('POST', '/api/people', { userName: 'other.zoe' })).personId;
  const again = { matches: [{ deviceId: devices[0], personId: other }] };
  expect(data(await daemon.call('POST', '/api/people/match', again)).results).toMatchObject([
    { status: 'failed', code: 1001, message: `device ${devices[0]} belongs to ${zoe}` },
  ]);
  const { list } = data(await daemon.call('GET', `/api/events?deviceId=${devices[0]}&types=DEVICE_UPDATED`));
  expect(list[0].changes).toContainEqual({ field: 'personId', before: null, after: zoe });
  data(await daemon.call('POST', `/api/people/${zoe}/leave`, { reason: 'gone' }));
  data(await daemon.call('POST', '/api/people/match', { matches: [{ deviceId: devices[1], personId: zoe }] }));
  expect(await deviceOf(devices[1]!)).toMatchObject({ status: 'LOCKED', lockReason: 'gone', personId: zoe });
});

it('takes names of 128 characters', async () => {
  const name = `${'n'.repeat(113)}@example.com`.padEnd(128, 'x');
  const id = await add(name);
  expect(await deviceOf(await bound(name.toUpperCase()))).toMatchObject({ personId: id });
  expect(await daemon.call('POST', '/api/people', { userName: `${name}x` })).toMatchObject({ code: 1001 });
});
