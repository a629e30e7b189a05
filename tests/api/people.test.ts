/** Persons and leavers through the interface. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { activation, data, register, registration } from '../support/fleet.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon?.stop());

let made = 0;
const freshName = () => `person.${++made}`;
const call = (method: string, path: string, body?: object, token?: string) =>
  daemon.call(method, path, body, token === undefined ? {} : { token });
const add = async (body: object = {}) => data(await call('POST', '/api/people', { userName: freshName(), ...body }));
const bind = async (userId: string) => {
  const device = await register(daemon);
  return { device, answer: await call('POST', '/api/devices/activate', activation(device, userId)) };
};
const bound = async (userId: string): Promise<string> => data((await bind(userId)).answer).deviceId;
const statusOf = async (deviceId: string) => data(await call('GET', `/api/devices/${deviceId}`)).status;
const leave = async (personId: string) =>
  data(await call('POST', `/api/people/${personId}/leave`, { reason: 'has left' }));
/** Of a person without an account and without keys at providers. */
const nothing = { tokens: [], accounts: [], credentials: [] };
const setPolicy = async (policy: object) =>
  data(
    await call('PUT', '/api/policies/people', {
      personsRequired: false,
      leavers: 'lock',
      leaverDelayHours: 0,
      ...policy,
    }),
  );

it('adds a person and shows it with the number of devices', async () => {
  const body = { userName: 'Ada.Lovelace', name: 'Ada Lovelace', email: 'ada@example.com' };
  const shown = { ...body, externalId: null, active: true, groups: [], source: 'local', leftAt: null };
  const person = data(await call('POST', '/api/people', body));
  expect(person).toEqual({ ...shown, personId: expect.stringMatching(/^PER-\d+$/), devices: 0 });
  await bound('Ada.Lovelace');
  expect(data(await call('GET', `/api/people/${person.personId}`))).toEqual({ ...person, devices: 1 });
  expect(await call('POST', '/api/people', { userName: 'ada.lovelace' })).toMatchObject({
    code: 1001,
    message: expect.stringContaining('userName ada.lovelace already exists'),
  });
});

it('lists persons by keyword, source and state, a page at a time', async () => {
  const names = await Promise.all(Array.from({ length: 3 }, () => add({ name: 'Grace Hopper' })));
  await leave(names[0].personId);
  const list = async (query: string) => data(await call('GET', `/api/people/list?keyword=hopper&${query}`));
  expect((await list('size=2')).pagination).toEqual({ page: 1, size: 2, total: 3, totalPages: 2 });
  expect((await list('active=false')).list).toMatchObject([{ personId: names[0].personId, active: false }]);
  expect((await list('source=scim')).list).toEqual([]);
  expect(await call('GET', '/api/people/list?source=other')).toMatchObject({ code: 1001 });
});

it('finds persons by whole user names, in upper or lower case, of which each is a parameter', async () => {
  await Promise.all(['Comma, Ann', 'comma'].map(userName => add({ userName })));
  const found = async (...userNames: string[]) => {
    const query = new URLSearchParams(userNames.map(userName => ['userName', userName]));
    const { list } = data(await call('GET', `/api/people/list?sortOrder=asc&${query}`));
    return list.map(({ userName }: { userName: string }) => userName);
  };
  expect(await found('COMMA')).toEqual(['comma']);
  expect((await found('comma', 'comma, ann', 'unknown.user')).sort()).toEqual(['Comma, Ann', 'comma']);
  expect(await found('comm')).toEqual([]);
  const many = Array.from({ length: 101 }, (_, n) => `userName=u${n}`).join('&');
  expect(await call('GET', `/api/people/list?${many}`)).toMatchObject({
    code: 1001,
    message: expect.stringContaining('userName must have 1 to 100 items'),
  });
});

it('exports devices with the names of their persons if names=true, to a VIEWER without', async () => {
  await add({ userName: 'export.named', name: '=Ann, "Export"' });
  // More persons than one read of names.
  const devices = Array.from({ length: 101 }, (_, n) =>
    registration({ model: 'export-names', serialNumber: `EXN-${n}` }),
  );
  const { results } = data(await call('POST', '/api/devices/batch-register', { devices }));
  const items = results.map(({ deviceId, activationCode }: Record<string, string>, n: number) => ({
    deviceId,
    activationCode,
    userId: n === 100 ? 'export.named' : `export.user-${n}`,
  }));
  await call('POST', '/api/devices/batch-update', { operation: 'ACTIVATE', items });
  const lines = async (query: string, token = daemon.adminToken): Promise<string[]> => {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${daemon.url}/api/devices/export?keyword=EXN-&${query}`, { headers });
    return (await response.text()).trimEnd().split(/\r?\n/);
  };
  const names = (found: string[]) => found.slice(0, -1).map(line => JSON.parse(line).name);
  expect(names(await lines('names=true'))).toEqual([...Array(100).fill(null), '=Ann, "Export"']);
  expect(names(await lines(''))).toEqual(Array(101).fill(undefined));
  const { token } = await daemon.user('names-viewer', 'VIEWER');
  expect(names(await lines('names=true', token))).toEqual(Array(101).fill(null));
  const csv = await lines('format=csv&names=true');
  expect(csv[0]).toMatch(/,userId,personId,activationCode,.*,lastUsedAt,name$/);
  expect(csv[1]).toMatch(/,$/);
  expect(csv.at(-1)).toContain(`,"'=Ann, ""Export"""`);
});

it('keeps e-mail addresses from a DEALER, also in searches', async () => {
  const { token } = await daemon.user('people-dealer', 'DEALER');
  const { personId } = await add({ email: 'secret.address@example.com' });
  expect(data(await call('GET', `/api/people/${personId}`, undefined, token)).email).toBeNull();
  const search = '/api/people/list?keyword=secret.address';
  expect(data(await call('GET', search, undefined, token)).list).toEqual([]);
  expect(data(await call('GET', search)).list).toMatchObject([{ personId, email: 'secret.address@example.com' }]);
});

it('answers 404 for a person that does not exist', async () => {
  expect(await call('GET', '/api/people/PER-99999')).toMatchObject({ code: 404 });
  expect(await call('POST', '/api/people/release', { personIds: ['PER-99999'] })).toMatchObject({ code: 404 });
});

it('locks the ACTIVE devices of a person who leaves and disables the account', async () => {
  const { personId, userName } = await add();
  const account = await daemon.user(userName, 'VIEWER');
  const devices = [await bound(userName), await bound(userName)];
  const other = await bound(freshName());
  expect(await leave(personId)).toEqual({
    locked: devices,
    ...nothing,
    accounts: [expect.stringMatching(/^USR-/)],
    held: [],
    dueAt: null,
  });
  const device = data(await call('GET', `/api/devices/${devices[0]}`));
  expect(device).toMatchObject({ status: 'LOCKED', lockReason: 'has left' });
  expect(await statusOf(other)).toBe('ACTIVE');
  expect(await call('GET', '/api/users/me', undefined, account.token)).toMatchObject({ code: 1004 });
  expect(await leave(personId)).toEqual({ locked: [], ...nothing, held: [], dueAt: null });
});

it('brings a person back: devices can be bound again, those that were locked are named, and the account stays disabled', async () => {
  const { personId, userName } = await add();
  const account = await daemon.user(userName, 'VIEWER');
  const deviceId = await bound(userName);
  const lockedBefore = await bound(userName);
  data(await call('POST', `/api/devices/${lockedBefore}/lock`, { reason: 'lost' }));
  await leave(personId);
  const comeBack = async () => data(await call('POST', `/api/people/${personId}/return`));
  expect(await comeBack()).toEqual({ lockedDevices: [deviceId] });
  expect(data(await call('GET', `/api/people/${personId}`))).toMatchObject({ active: true, leftAt: null });
  expect([await statusOf(deviceId), await statusOf(await bound(userName))]).toEqual(['LOCKED', 'ACTIVE']);
  expect(await call('GET', '/api/users/me', undefined, account.token)).toMatchObject({ code: 1004 });
  const { list } = data(await call('GET', '/api/events?types=PERSON_RETURNED&before=999999&limit=1'));
  expect(list).toMatchObject([{ data: { personId, lockedDevices: [deviceId] } }]);
  expect(await comeBack()).toEqual({ lockedDevices: [] });
  expect(await call('POST', '/api/people/PER-99999/return')).toMatchObject({ code: 404 });
});

it('refuses to bind a device to a person who has left, however the name is written', async () => {
  const { personId, userName } = await add();
  expect((await bind(userName.toUpperCase())).answer.code).toBe(200);
  expect((await leave(personId)).locked).toHaveLength(1);
  expect((await bind(userName.toUpperCase())).answer).toMatchObject({
    code: 1001,
    message: expect.stringContaining('has left'),
  });
});

it('binds devices to active persons only if the policy requires it', async () => {
  const { userName } = await add();
  expect((await setPolicy({ personsRequired: true })).personsRequired).toBe(true);
  const unknown = freshName();
  expect((await bind(unknown)).answer).toMatchObject({
    code: 1001,
    message: expect.stringContaining(`userId ${unknown} is not the user name of a person`),
  });
  expect((await bind(userName)).answer.code).toBe(200);
  await setPolicy({});
  expect((await bind(unknown)).answer.code).toBe(200);
});

it('retires devices if the policy requires it', async () => {
  await setPolicy({ leavers: 'retire' });
  const { personId, userName } = await add();
  const deviceId = await bound(userName);
  expect((await leave(personId)).locked).toEqual([deviceId]);
  expect(await statusOf(deviceId)).toBe('DEACTIVATED');
  await setPolicy({});
});

it('announces leavers without names, and the log of changes has neither names nor addresses', async () => {
  const { personId, userName } = await add({ name: 'Zuse Konrad', email: 'zuse@example.com' });
  await leave(personId);
  const { list } = data(await call('GET', '/api/events?types=PERSON_LEFT&before=999999&limit=1'));
  expect(list).toMatchObject([{ type: 'PERSON_LEFT', data: { personId, source: 'local', devices: 0 } }]);
  expect(JSON.stringify(list)).not.toContain(userName);
});

it('holds leavers above the brake until an ADMIN releases them', async () => {
  const { personId, userName } = await add({ name: 'Many Devices' });
  const devices = await Promise.all(Array.from({ length: 12 }, () => bound(userName)));
  const result = await leave(personId);
  expect(result).toEqual({ locked: [], ...nothing, held: expect.arrayContaining(devices), dueAt: null });
  expect(await statusOf(devices[0]!)).toBe('ACTIVE');
  const { list } = data(await call('GET', '/api/people/held'));
  expect(list).toMatchObject([{ personId, userName, active: false, deviceIds: expect.arrayContaining(devices) }]);
  const metrics = await (await fetch(`${daemon.url}/metrics`)).text();
  expect(metrics).toMatch(/^devmgr_leavers_held\{.*\} 1$/m);
  const released = data(await call('POST', '/api/people/release', { personIds: [personId, personId] }));
  expect(released).toEqual({ released: [personId], locked: expect.arrayContaining(devices) });
  expect(await statusOf(devices[0]!)).toBe('LOCKED');
  expect(data(await call('POST', '/api/people/release', { personIds: [personId] }))).toEqual({
    released: [],
    locked: [],
  });
  expect(data(await call('GET', '/api/people/held')).list).toEqual([]);
});
