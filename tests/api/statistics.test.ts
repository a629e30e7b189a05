import { afterEach, beforeEach, expect, it } from 'vitest';
import { holdClock, second } from '../support/clock.ts';
import { adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { data, deviceIn, register } from '../support/fleet.ts';

const hour = 3600 * second;
const day = 24 * hour;
let clock: ReturnType<typeof holdClock>;
let daemon: TestDaemon;
beforeEach(async () => {
  clock = holdClock();
  daemon = await startTestDaemon();
});
afterEach(async () => {
  await daemon?.stop();
  clock.release();
});

const statistics = async () =>
  data(await daemon.call('GET', '/api/statistics', undefined, { token: await daemon.login('admin') }));

it('an empty registry has zeros for everything', async () => {
  const found = await statistics();
  expect(found).toMatchObject({
    total: 0,
    byStatus: { INACTIVE: 0, ACTIVE: 0, LOCKED: 0, DEACTIVATED: 0 },
    byType: { UKEY: 0, SIMKEY: 0 },
    byManufacturer: [],
    codesExpiring: 0,
    unused: 0,
  });
  expect(found.registrations.perHour).toHaveLength(48);
  expect(found.registrations.perDay).toHaveLength(30);
});

it('devices are counted by state, type and manufacturer, the largest 20 first', async () => {
  await deviceIn('LOCKED', daemon);
  await deviceIn('ACTIVE', daemon);
  for (let n = 0; n < 21; n++)
    await register(daemon, { deviceType: 'SIMKEY', manufacturer: `M${String(n).padStart(2, '0')}` });
  const found = await statistics();
  expect(found).toMatchObject({
    total: 23,
    byStatus: { INACTIVE: 21, ACTIVE: 1, LOCKED: 1, DEACTIVATED: 0 },
    byType: { UKEY: 2, SIMKEY: 21 },
  });
  expect(found.byManufacturer).toHaveLength(20);
  expect(found.byManufacturer.slice(0, 2)).toEqual([
    { manufacturer: 'Feitian', count: 2 },
    { manufacturer: 'M00', count: 1 },
  ]);
});

it('registrations are counted by whole UTC hours and days, the current one last', async () => {
  await register(daemon);
  clock.forward(2 * day + 3 * hour);
  await daemon.call(
    'POST',
    '/api/devices/register',
    {
      deviceType: 'UKEY',
      serialNumber: 'LATER',
      manufacturer: 'M',
      model: 'X',
    },
    { token: await daemon.login('admin') },
  );
  const { registrations, generatedAt } = await statistics();
  const now = Date.parse(generatedAt);
  expect(registrations.perHour.at(-1)).toEqual({ start: new Date(now - (now % hour)).toISOString(), count: 1 });
  expect(registrations.perHour.filter(({ count }: { count: number }) => count > 0)).toHaveLength(1);
  expect(registrations.perDay.at(-1)).toEqual({ start: new Date(now - (now % day)).toISOString(), count: 1 });
  expect(registrations.perDay.reduce((sum: number, { count }: { count: number }) => sum + count, 0)).toBe(2);
});

it('codes that expire and devices that are not used are counted', async () => {
  const { deviceId } = await register(daemon);
  await register(daemon);
  await deviceIn('ACTIVE', daemon);
  const body = { deviceId, validityDays: 40, reason: 'short' };
  await daemon.call('POST', '/api/devices/generate-activation-code', body);
  expect(await statistics()).toMatchObject({ codesExpiring: 0, unused: 0 });
  clock.forward(10 * day);
  expect(await statistics()).toMatchObject({ codesExpiring: 1, unused: 0 });
  clock.forward(30 * day);
  expect(await statistics()).toMatchObject({ codesExpiring: 0, unused: 0 });
  clock.forward(50 * day);
  expect(await statistics()).toMatchObject({ codesExpiring: 0, unused: 0 });
  clock.forward(1);
  expect(await statistics()).toMatchObject({ codesExpiring: 0, unused: 1 });
});

it('devices in each state are known for the end of each day', async () => {
  const { deviceId, activationCode } = await register(daemon);
  clock.forward(day);
  const activate = { deviceId, activationCode, userId: 'alice' };
  data(await daemon.call('POST', '/api/devices/activate', activate, { token: await daemon.login('admin') }));
  clock.forward(day);
  const token = await daemon.login('admin');
  for (const name of ['lock', 'unlock', 'lock'])
    data(await daemon.call('POST', `/api/devices/${deviceId}/${name}`, { reason: 'lost' }, { token }));
  clock.forward(day);
  const retire = { reason: 'worn out', confirmPassword: adminPassword };
  const again = { token: await daemon.login('admin') };
  data(await daemon.call('POST', `/api/devices/${deviceId}/deactivate`, retire, again));
  const { statesPerDay, generatedAt } = await statistics();
  const now = Date.parse(generatedAt);
  expect(statesPerDay).toHaveLength(30);
  const states = { INACTIVE: 0, ACTIVE: 0, LOCKED: 0, DEACTIVATED: 0 };
  expect(statesPerDay.slice(-5).map(({ byStatus }: { byStatus: object }) => byStatus)).toEqual([
    states,
    ...['INACTIVE', 'ACTIVE', 'LOCKED', 'DEACTIVATED'].map(state => ({ ...states, [state]: 1 })),
  ]);
  expect(statesPerDay.at(-1).start).toBe(new Date(now - (now % day)).toISOString());
});

it('devices are counted by model, lot, site and station, the largest first, also after a change of tags', async () => {
  await register(daemon, { model: 'A', tags: { lot: '7', site: 'Bonn', shelf: 'x' } });
  const { deviceId } = await register(daemon, { model: 'A', tags: { lot: '7', station: 'line-3' } });
  await register(daemon, { model: 'B', tags: { lot: '8' } });
  data(await daemon.call('PUT', `/api/devices/${deviceId}`, { tags: { lot: '8', station: null, site: 'Bonn' } }));
  const { byModel, byTag, byAdvisory } = await statistics();
  const states = { ACTIVE: 0, LOCKED: 0, DEACTIVATED: 0 };
  expect(byModel.map(({ model, count }: { model: string; count: number }) => [model, count])).toEqual([
    ['A', 2],
    ['B', 1],
  ]);
  expect(byTag).toEqual({
    lot: [
      { value: '8', count: 2, byStatus: { INACTIVE: 2, ...states } },
      { value: '7', count: 1, byStatus: { INACTIVE: 1, ...states } },
    ],
    site: [{ value: 'Bonn', count: 2, byStatus: { INACTIVE: 2, ...states } }],
    station: [],
  });
  expect(byAdvisory).toEqual([]);
});

it('codes that have expired, or expire within 7 days, are due', async () => {
  const { deviceId } = await register(daemon);
  data(
    await daemon.call('POST', '/api/devices/generate-activation-code', { deviceId, validityDays: 8, reason: 'short' }),
  );
  expect(await statistics()).toMatchObject({ codesDue: 0, codesExpiring: 1 });
  clock.forward(day);
  expect(await statistics()).toMatchObject({ codesDue: 1, codesExpiring: 1 });
  clock.forward(8 * day);
  expect(await statistics()).toMatchObject({ codesDue: 1, codesExpiring: 0 });
});
