/** Keys without a serial number on a line, where a key is unplugged when it is bound: the real driver, and a registry. */
import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { AttachedKeys } from '../../daemon/hardware/attached-keys.ts';
import { createHidDriver } from '../../drivers/hid/index.ts';
import { ApiError } from '../../src/contract/codes.ts';
import type { Key } from '../../src/contract/hardware.ts';
import { routes } from '../../src/contract/routes.ts';
import { poll } from '../../src/delivery/wait.ts';
import { KeyEnrollment } from '../../src/enrollment/key-enrollment.ts';
import { PersonEnrollment } from '../../src/enrollment/line/person-enrollment.ts';
import { Recognition } from '../../src/enrollment/recognition.ts';
import { enrollmentRegistryBy, questionsBy } from '../../src/enrollment/requests.ts';
import type { Send } from '../../src/enrollment/send.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { FakeHid } from '../support/fake-hid.ts';
import { FidoKey } from '../support/fido-key.ts';
import { data, freshSerial } from '../support/fleet.ts';
import { openTemporary } from '../support/sqlite.ts';
import { authenticatorRoot, TestAuthenticator } from '../support/test-authenticator.ts';

const root = authenticatorRoot('Test root of lines');

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
  return () => daemon.stop();
});

const registry: Send = async (operation, input) => {
  const { method, path } = routes[operation];
  const { params = {}, query, body } = input as { params?: Record<string, string>; query?: object; body?: object };
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => params[name]!);
  const answer = await daemon.call(method, `${filled}${query ? `?${new URLSearchParams(query as never)}` : ''}`, body);
  if (answer.code !== 200) throw new ApiError(answer.code as never, answer.message);
  return answer.data as never;
};

let temporary: Awaited<ReturnType<typeof openTemporary>>;
let system: FakeHid;
let keys: AttachedKeys;
let recognition: Recognition;
const hardware: Send = async (operation, input) => {
  if (operation === 'listKeys') return { list: await keys.list(), drivers: [] } as never;
  const { params, body } = input as { params: { keyId: string }; body: never };
  return keys.identify(params.keyId, body, new AbortController().signal) as never;
};

beforeEach(async () => {
  temporary = await openTemporary();
  system = new FakeHid();
  const log = { debug: () => {}, info: () => {}, warn: () => {} };
  const drivers = [createHidDriver({ system })];
  keys = new AttachedKeys({ drivers, store: temporary.store, hub: { publish: () => {} }, now: Date.now, log });
  await keys.start();
  recognition = new Recognition(registry, hardware, poll);
});
afterEach(async () => {
  await keys.stop();
  await temporary.cleanup();
});

const authenticator = () => new TestAuthenticator({ root, aaguid: '44444444-4444-4444-8444-444444444444' });

/** Plugs a key in; resolves to it, and to what unplugs it. */
async function plug(key: TestAuthenticator): Promise<[Key, () => Promise<void>]> {
  const address = system.plug({
    serial: null,
    interfaces: { fido: new FidoKey({ authenticator: key, touched: true }) },
  });
  await vi.waitFor(async () => expect((await keys.list())[0]?.claims.aaguid).toBeDefined());
  const unplug = async () => {
    system.unplug(address);
    await vi.waitFor(async () => expect(await keys.list()).toEqual([]));
  };
  return [(await keys.list())[0]!, unplug];
}

const own = () => ({
  ...questionsBy(registry, hardware, poll, recognition),
  codeOf: (error: unknown) => (error instanceof ApiError ? error.code : null),
  isLost: () => false,
  fatal: [],
  registrationOf: async ({ device }: Key) => device,
  bySerial: async (serialNumber: string) =>
    (await registry('listDevices', { query: { serialNumber } as never })).list[0] ?? null,
  recordClaims: () => {},
  prove: () => Promise.reject(new Error('not asked')),
});
const options = { manufacturer: null, model: null, dryRun: false, proof: null, tags: null };
const parts = () => ({
  registry: enrollmentRegistryBy(registry, own()),
  words: (reason: object) => JSON.stringify(reason),
});
const noOther = { isAllowed: true, isCounted: () => false, unfinished: null };

/** Checks the key with its printed number for a person, and binds it after it was unplugged. */
async function bound(key: TestAuthenticator, printed: string, userId: string) {
  const line = new PersonEnrollment(parts(), options);
  const person = { userId, name: null, type: null, count: 1 } as never;
  const [plugged, unplug] = await plug(key);
  const numbered = await recognition.numbered(plugged, printed);
  const checked = await line.check(numbered, person, null, noOther);
  await unplug();
  return checked.failure === null ? line.bind(numbered, person, null, noOther) : checked;
}

it('a key makes its credential while it is checked, and is registered after it was unplugged', async () => {
  const [key, printed] = [authenticator(), freshSerial('PR')];
  const { failure, row } = await bound(key, printed, 'ada');
  expect(failure).toBeNull();
  expect(row).toMatchObject({ result: 'registered', serialNumber: printed, userId: 'ada', status: 'ACTIVE' });
  expect(data(await daemon.call('GET', `/api/devices/${row.deviceId}`))).toMatchObject({ identity: 'credential' });
  const [again, unplug] = await plug(key);
  expect(await recognition.recognized(again)).toMatchObject({ serialNumber: printed, serialSource: 'credential' });
  await unplug();
});

it('a key that was plugged in while the registry was away is recognized as soon as it responds', async () => {
  const [key, printed] = [authenticator(), freshSerial('PR')];
  await bound(key, printed, 'ada');
  let isAway = true;
  const failing: Send = (...request) => (isAway ? Promise.reject(new Error('away')) : registry(...request));
  const station = new Recognition(failing, hardware, poll, { isAway: () => isAway });
  const [plugged, unplug] = await plug(key);
  expect(await station.recognized(plugged)).toMatchObject({
    serialNumber: null,
    problem: expect.stringMatching(/is away/),
  });
  isAway = false;
  expect(await station.recognized(plugged)).toMatchObject({ serialNumber: printed });
  await unplug();
});

it('a station sends its name: the keys that it had last are looked for first', async () => {
  const [key, later] = [authenticator(), authenticator()];
  const mine = await bound(key, freshSerial('PR'), 'ada');
  await bound(later, freshSerial('PR'), 'ben');
  const query = { protocol: 'CTAP2', aaguid: '44444444-4444-4444-8444-444444444444', station: 'line-7' };
  const first = async () => data(await daemon.call('POST', '/api/identity/candidates', query)).list[0].deviceId;
  expect(await first()).not.toBe(mine.row.deviceId);
  const station = new Recognition(registry, hardware, poll, { station: async () => 'line-7' });
  const [plugged, unplug] = await plug(key);
  expect(await station.recognized(plugged)).toMatchObject({ serialNumber: mine.row.serialNumber });
  await unplug();
  expect(await first()).toBe(mine.row.deviceId);
});

it('a key that waited in a spool file is registered under its printed number, and gets its credential when it is plugged in again', async () => {
  const [key, printed] = [authenticator(), freshSerial('PR')];
  const enroll = (of: Key) => new KeyEnrollment(parts(), { ...options, activateFor: 'ada' }).handle(of);
  const [plugged, unplug] = await plug(key);
  const numbered = await recognition.numbered(plugged, printed);
  await unplug();
  const waited = { ...numbered, keyId: '', device: null };
  const { deviceId, ...row } = await enroll(waited);
  expect(row).toMatchObject({ result: 'registered', serialNumber: printed, status: 'ACTIVE' });
  expect(data(await daemon.call('GET', `/api/devices/${deviceId}`))).toMatchObject({ identity: 'serial' });
  const [again, pull] = await plug(key);
  const device = { deviceId: deviceId!, status: 'ACTIVE' } as const;
  expect(await enroll({ ...(await recognition.numbered(again, printed)), device })).toMatchObject({ result: 'known' });
  await pull();
  expect(data(await daemon.call('GET', `/api/devices/${deviceId}`))).toMatchObject({ identity: 'credential' });
});

it('a key that reports the serial number of another device is stopped, and its own device is named', async () => {
  const [key, other] = [authenticator(), authenticator()];
  const [mine, taken] = [await bound(key, freshSerial('PR'), 'ada'), await bound(other, freshSerial('PR'), 'ben')];
  const [plugged, unplug] = await plug(key);
  const copied = { ...plugged, serialNumber: taken.row.serialNumber, serialSource: 'usb-descriptor' };
  const row = await new KeyEnrollment(parts(), { ...options, activateFor: null }).handle({
    ...copied,
    device: { deviceId: taken.row.deviceId!, status: 'ACTIVE' },
  });
  await unplug();
  expect(row.result).toBe('failed');
  expect(JSON.parse(row.message!)).toMatchObject({
    type: 'other key',
    contradiction: { what: 'credential', recorded: taken.row.deviceId, shown: mine.row.deviceId },
  });
});
