/** Work that is due after hours and days: erasures by the policy, locks at the end of a delay. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { activation, data, register } from '../support/fleet.ts';

const DAY_MS = 86_400_000;
let daemon: TestDaemon;
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  daemon = await startTestDaemon();
});
afterAll(async () => {
  await daemon?.stop();
  vi.useRealTimers();
});

let token: string | undefined;
/** Sessions end while the days pass. */
const pass = async (days: number) => {
  vi.setSystemTime(Date.now() + days * DAY_MS);
  token = await daemon.login('admin');
};
const call = (method: string, path: string, body?: object) => daemon.call(method, path, body, token ? { token } : {});
const policy = { personsRequired: false, leavers: 'lock', leaverDelayHours: 0 };
const setPolicy = (days: object) => call('PUT', '/api/policies/people', { ...policy, ...days });
const person = async (id: string) => data(await call('GET', `/api/people/${id}`));

async function leaver(userName: string, closes = true): Promise<{ personId: string; deviceId: string }> {
  const { personId } = data(await call('POST', '/api/people', { userName, email: `${userName}@example.com` }));
  const device = await register({ call: (method, path, body) => call(method, path, body as object) });
  const { deviceId } = data(await call('POST', '/api/devices/activate', activation(device, userName)));
  data(await call('POST', `/api/people/${personId}/leave`, { reason: 'has left' }));
  if (closes) data(await call('POST', `/api/people/${personId}/case/close`));
  return { personId, deviceId };
}

it('erases persons whose time has ended, and no one else', async () => {
  const [gone, open] = [await leaver('zq.gone'), await leaver('zq.open', false)];
  data(await setPolicy({ retentionDays: 30, copiesDays: 90 }));
  await pass(20);
  const later = await leaver('zq.later');
  await pass(11);
  // A daemon looks when it takes the work.
  await daemon.restart();
  await vi.waitFor(async () => expect(await person(gone.personId)).toMatchObject({ userName: gone.personId }), {
    timeout: 10_000,
  });
  expect(await person(gone.personId)).toMatchObject({ email: null, active: false });
  expect(data(await call('GET', `/api/devices/${gone.deviceId}`))).toMatchObject({ userId: gone.personId });
  for (const [{ personId }, userName] of [
    [open, 'zq.open'],
    [later, 'zq.later'],
  ] as const)
    expect(await person(personId)).toMatchObject({ userName });

  const { remains } = data(
    await call('POST', `/api/people/${later.personId}/erase`, { confirmPassword: 'correct horse battery' }),
  );
  const untils = Object.fromEntries(remains.map(({ where, until }: Record<string, string>) => [where, until]));
  const end = new Date(Date.now() + 90 * DAY_MS).toISOString().slice(0, 10);
  for (const where of ['backups', 'forwarding', 'webhooks', 'stations', 'logs'])
    expect(untils[where]).toMatch(new RegExp(`^${end}`));
  expect(untils.journal).toBeNull();
});

it('keeps the days that a request does not name, and is not changed by a service token', async () => {
  data(await setPolicy({ retentionDays: 30, copiesDays: 90 }));
  const made = data(
    await call('POST', '/api/tokens', { name: 'rules', role: 'ADMIN', expiresInDays: 1, may: ['policies'] }),
  );
  const set = (body: object) =>
    daemon.call('PUT', '/api/policies/people', { ...policy, ...body }, { token: made.token });
  expect(data(await set({}))).toMatchObject({ retentionDays: 30, copiesDays: 90 });
  expect(data(await set({ retentionDays: 30, copiesDays: null }))).toMatchObject({ copiesDays: null });
  for (const retentionDays of [1, null]) expect(await set({ retentionDays })).toMatchObject({ code: 2007 });
  expect(data(await setPolicy({ retentionDays: null }))).toMatchObject({ retentionDays: null });
  for (const retentionDays of [0, 3651]) expect(await setPolicy({ retentionDays })).toMatchObject({ code: 1001 });
});

it('takes back locks at the end of a delay, which the daemon has made', async () => {
  data(await call('PUT', '/api/policies/people', { ...policy, leaverDelayHours: 2 }));
  const persons = ['zq.due', 'zq.other'].map(userName => ({ userName }));
  data(await call('POST', '/api/people/import', { people: persons }));
  const devices: string[] = [];
  for (const { userName } of persons) {
    const device = await register({ call: (method, path, body) => call(method, path, body as object) });
    devices.push(data(await call('POST', '/api/devices/activate', activation(device, userName))).deviceId);
  }
  const leave = (userName: string) => call('POST', '/api/people/import', { people: [{ userName, left: true }] });
  const requestId = (await leave('zq.due')).headers.get('x-request-id')!;
  data(await leave('zq.other'));
  const states = () =>
    Promise.all(devices.map(async id => data(await call('GET', `/api/devices/${id}`)).status as string));
  expect(await states()).toEqual(['ACTIVE', 'ACTIVE']);
  await pass(1);
  await daemon.restart();
  await vi.waitFor(async () => expect(await states()).toEqual(['LOCKED', 'LOCKED']), { timeout: 10_000 });
  const undo = async () => data(await call('POST', '/api/people/undo', { requestId })).list;
  const status = { field: 'status', before: 'LOCKED', after: 'ACTIVE' };
  expect(await undo()).toMatchObject([
    { kind: 'person', outcome: 'restored', changes: [{ field: 'active' }] },
    { kind: 'device', id: devices[0], outcome: 'restored', changes: [status] },
  ]);
  expect(await states()).toEqual(['ACTIVE', 'LOCKED']);
  expect(await undo()).toMatchObject([{ kind: 'person', outcome: 'unchanged' }]);
});

it('announces once that the arrival of a key is overdue, by the policy, until a lock or another shipment', async () => {
  data(await call('POST', '/api/people', { userName: 'zq.home' }));
  const sent = async () => {
    const device = await register({ call: (method, path, body) => call(method, path, body as object) });
    const { deviceId } = data(await call('POST', '/api/devices/activate', activation(device, 'zq.home')));
    return { deviceId, shippedAt: await shipped(deviceId) };
  };
  const shipped = async (deviceId: string) =>
    data(await call('POST', `/api/devices/${deviceId}/shipped`)).shippedAt as string;
  const announced = async () =>
    data(await call('GET', '/api/events?types=SHIPMENT_OVERDUE&limit=100')).list.map(
      ({ data: of }: { data: { deviceId: string; shippedAt: string } }) => [of.deviceId, of.shippedAt],
    );
  const overdue = async () => data(await call('GET', '/api/people/check')).shipments;
  const metric = async () =>
    /^devmgr_shipments_overdue{.*} (\d+)$/m.exec(await (await fetch(`${daemon.url}/metrics`)).text());
  const [lost, home] = [await sent(), await sent()];
  data(await call('POST', `/api/devices/${lost.deviceId}/lock`, { reason: 'lost' }));
  data(await setPolicy({ arrivalDays: 20 }));
  await pass(15);
  await daemon.restart();
  const late = await sent();
  expect(await overdue()).toBe(0);
  expect(data(await setPolicy({ arrivalDays: 10 }))).toMatchObject({ arrivalDays: 10 });
  expect(data(await setPolicy({}))).toMatchObject({ arrivalDays: 10 });
  const first = [home.deviceId, home.shippedAt];
  await daemon.restart();
  await vi.waitFor(async () => expect(await announced()).toEqual([first]), { timeout: 10_000 });
  expect([await overdue(), (await metric())?.[1]]).toEqual([1, '1']);
  expect(data(await setPolicy({ arrivalDays: null }))).toMatchObject({ arrivalDays: null });
  expect(await overdue()).toBe(0);
  data(await setPolicy({ arrivalDays: 10 }));
  await pass(1);
  const again = [home.deviceId, await shipped(home.deviceId)];
  expect(await overdue()).toBe(0);
  await pass(11);
  await daemon.restart();
  const all = [first, [late.deviceId, late.shippedAt], again];
  await vi.waitFor(async () => expect(await announced()).toEqual(all), { timeout: 10_000 });
  expect(await overdue()).toBe(2);
  const last = await sent();
  await pass(11);
  await daemon.restart();
  const now = [...all, [last.deviceId, last.shippedAt]];
  await vi.waitFor(async () => expect(await announced()).toEqual(now), { timeout: 10_000 });
});
