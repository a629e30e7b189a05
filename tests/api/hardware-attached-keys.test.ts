import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { clientDataHash } from '../../daemon/devices/client-data.ts';
import { AttachedKeys } from '../../daemon/hardware/attached-keys.ts';
import { recordUse, registeredDevices } from '../../daemon/hardware/registered-keys.ts';
import type { Change } from '../../daemon/store/commit.ts';
import type { AttachedKey, Driver, KeyEvent, KeyEvidence } from '../../drivers/driver.ts';
import { HardwareError } from '../../drivers/hardware-error.ts';
import { createSimulatedDriver, type SimulatedDriver } from '../../drivers/simulated/index.ts';
import type { Key } from '../../src/contract/hardware.ts';
import { openTemporary } from '../support/sqlite.ts';
import { registration } from '../support/stream-server.ts';

const log = { debug: () => {}, info: () => {}, warn: () => {} };
const start = 1_800_000_000_000;

let temporary: Awaited<ReturnType<typeof openTemporary>>;
let clock: { wall: number; monotonic: number };
let events: { type: string; at: number; key: Key }[];
let keys: AttachedKeys;

function setUp(drivers: readonly Driver[]): void {
  keys = new AttachedKeys({
    drivers,
    store: temporary.store,
    hub: { publish: (type, at, data) => events.push({ type, at, key: data as Key }) },
    now: () => clock.wall,
    monotonic: () => clock.monotonic,
    log,
  });
}

const pass = (seconds: number) => {
  clock.wall += seconds * 1000;
  clock.monotonic += seconds * 1000;
};
const commit = (...changes: Change[]) =>
  temporary.store.commit({ at: clock.wall, actor: 'test', requestId: null, changes });
const activate = (device: number) =>
  commit({
    kind: 'device.set',
    device,
    set: { status: 'ACTIVE', userId: 'alice', activatedAt: clock.wall },
    entry: { type: 'DEVICE_ACTIVATED', data: { deviceType: 'UKEY', userId: 'alice' } },
  });

beforeEach(async () => {
  temporary = await openTemporary();
  clock = { wall: start, monotonic: 0 };
  events = [];
});
afterEach(async () => {
  await keys.stop();
  await temporary.cleanup();
});

it('reports of a key that is detached whether it was unplugged, or its driver became unavailable', async () => {
  const driver = createSimulatedDriver({ count: 0, now: () => clock.wall });
  setUp([driver]);
  await keys.start();
  for (const state of ['ready', 'unavailable'] as const) {
    await driver.attach();
    vi.spyOn(driver, 'status').mockReturnValue({ name: 'simulated', state, detail: 'as it is' });
    await driver.detach();
  }
  await keys.stop();
  const said = events.map(({ type, key }) => [type, (key as { unplugged?: boolean }).unplugged]);
  const attached = ['KEY_ATTACHED', undefined];
  expect(said).toEqual([attached, ['KEY_DETACHED', true], attached, ['KEY_DETACHED', false]]);
});

it('finds a SIM card that is registered with the filler of its number, and records its use', async () => {
  setUp([]);
  const { store } = temporary;
  await commit(registration('8949440000000001012F'), registration('20470001'));
  await activate(1);
  const device = await registeredDevices(store, ['8949440000000001012', '2047000', '20470001F']);
  expect(device('8949440000000001012')).toMatchObject({ number: 1 });
  expect([device('2047000'), device('20470001F')]).toEqual([undefined, undefined]);
  await recordUse({ store, now: () => clock.wall }, '8949440000000001012', 5000);
  expect(await store.device(1)).toMatchObject({ usageCount: 1 });
});

it('does not wait with its events until a use is recorded', async () => {
  const driver = createSimulatedDriver({ count: 0, now: () => clock.wall });
  const { store } = temporary;
  const slow = Promise.withResolvers<void>();
  keys = new AttachedKeys({
    drivers: [driver],
    store: {
      device: number => store.device(number),
      devicesBySerial: serials => store.devicesBySerial(serials),
      commit: async commit => {
        await slow.promise;
        return store.commit(commit);
      },
    },
    hub: { publish: (type, at, data) => events.push({ type, at, key: data as Key }) },
    now: () => clock.wall,
    monotonic: () => clock.monotonic,
    log,
  });
  await commit(registration('SIM-UKEY-0001'));
  await activate(1);
  await keys.start();
  await driver.attach();
  pass(5);
  await driver.detach();
  await driver.attach(2);
  await expect.poll(() => events.map(({ type }) => type)).toEqual(['KEY_ATTACHED', 'KEY_DETACHED', 'KEY_ATTACHED']);
  expect((await store.device(1))?.usageCount).toBe(0);
  slow.resolve();
  await keys.stop();
  expect((await store.device(1))?.usageCount).toBe(1);
});

describe('the proof of a key', () => {
  it('is what it claims, or that of its device', async () => {
    const driver = createSimulatedDriver({ count: 0, now: () => clock.wall });
    const claims = { firmware: '5.4.3', formFactor: 'usb-a-keychain' };
    const claiming: Driver = {
      ...driver,
      start: listener =>
        driver.start(event => listener('key' in event ? { ...event, key: { ...event.key, claims } } : event)),
    };
    setUp([claiming]);
    await keys.start();
    await driver.attach(1);
    const claimed = { grade: 'claimed', method: 'claims', firmware: '5.4.3', provedAt: null };
    expect((await keys.list())[0]?.proof).toMatchObject(claimed);
    await commit(registration('SIM-UKEY-0001'));
    const proof = { ...(await keys.list())[0]!.proof!, grade: 'unit' as const };
    const stored = { proof, rule: null, advisories: [], proofId: 'x', answer: 'x', hasEvidence: true };
    await commit({
      kind: 'device.set',
      device: 1,
      set: { proof: JSON.stringify(stored) },
      entry: { type: 'DEVICE_PROVED', detail: {} },
    });
    expect((await keys.list())[0]?.proof).toEqual(proof);
  });
});

describe('keys that come and go', () => {
  let driver: SimulatedDriver;
  beforeEach(async () => {
    driver = createSimulatedDriver({ count: 0, now: () => clock.wall });
    setUp([driver]);
    await keys.start();
  });

  it('are reported in order, each with the device that has its serial number at that time', async () => {
    const key = await driver.attach(1);
    await commit(registration('SIM-UKEY-0001'));
    pass(1);
    await driver.detach(key.keyId);
    await driver.attach(1);
    await keys.stop();
    const device = { deviceId: 'DEV-1', status: 'INACTIVE' };
    expect(events.map(one => [one.type, one.at - start, one.key.device])).toEqual([
      ['KEY_ATTACHED', 0, expect.toBeOneOf([null, device])],
      ['KEY_DETACHED', 1000, device],
      ['KEY_ATTACHED', 1000, device],
    ]);
    expect(events[0]!.key.keyId).toBe(events[1]!.key.keyId);
    expect(events[2]!.key.keyId).not.toBe(events[1]!.key.keyId);
  });

  it('are listed while they are attached, in the order of attachment', async () => {
    await driver.attach(3);
    await driver.attach(1);
    expect((await keys.list()).map(key => key.serialNumber)).toEqual(['SIM-UKEY-0003', 'SIM-UKEY-0001']);
    await driver.detach();
    expect((await keys.list()).map(key => key.serialNumber)).toEqual(['SIM-UKEY-0003']);
  });

  it('record a use of an ACTIVE device in seconds, without an actor', async () => {
    await commit(registration('SIM-UKEY-0001'));
    await activate(1);
    pass(100);
    await driver.attach(1);
    pass(42);
    await driver.detach();
    await keys.stop();
    const device = (await temporary.store.device(1))!;
    expect(device).toMatchObject({ usageCount: 1, usageSeconds: 42, lastUsedAt: start + 142_000 });
    const [entry] = await temporary.store.events({ after: 0, limit: 10, types: ['DEVICE_USED'] });
    expect(entry).toMatchObject({ device: 1, actor: null, requestId: null });
  });

  it('count from the activation if it came later than the attachment', async () => {
    await commit(registration('SIM-UKEY-0001'));
    await driver.attach(1);
    pass(100);
    await activate(1);
    pass(7);
    await driver.detach();
    await keys.stop();
    expect(await temporary.store.device(1)).toMatchObject({ usageCount: 1, usageSeconds: 7 });
  });

  it('are measured on a monotonic clock', async () => {
    await commit(registration('SIM-UKEY-0001'));
    await activate(1);
    pass(1000);
    await driver.attach(1);
    clock.monotonic += 20_000;
    clock.wall -= 500_000;
    await driver.detach();
    await keys.stop();
    expect(await temporary.store.device(1)).toMatchObject({ usageSeconds: 20 });
  });

  it('record their use once when the daemon stops', async () => {
    await commit(registration('SIM-UKEY-0001'));
    await activate(1);
    await driver.attach(1);
    pass(5);
    await Promise.all([keys.stop(), keys.stop()]);
    expect(await temporary.store.device(1)).toMatchObject({ usageCount: 1, usageSeconds: 5 });
  });

  it('record no use if their device is not ACTIVE or their serial number is not registered', async () => {
    await commit(registration('SIM-UKEY-0001'));
    await driver.attach(1);
    await driver.attach(3);
    pass(5);
    await driver.detach();
    await driver.detach();
    await keys.stop();
    expect(await temporary.store.events({ after: 0, limit: 10, types: ['DEVICE_USED'] })).toEqual([]);
  });

  it('are reported without their device if the store cannot be read', async () => {
    await temporary.store.close();
    await driver.attach(1);
    await driver.detach();
    await keys.stop();
    expect(events.map(one => [one.type, one.key.device])).toEqual([
      ['KEY_ATTACHED', null],
      ['KEY_DETACHED', null],
    ]);
  });
});

/** A driver that does what the test specifies, even what a driver must not do. */
function puppet(name: string, faults: { start?: boolean; status?: boolean; stop?: boolean } = {}) {
  let listener: (event: KeyEvent) => void = () => {};
  const driver: Driver = {
    name,
    status() {
      if (faults.status) throw new Error('no status');
      return { name, state: 'ready', detail: 'watching' };
    },
    keys: () => [],
    prove: () => Promise.reject(new HardwareError('unavailable', 'a puppet proves nothing')),
    async start(given) {
      listener = given;
      if (faults.start) throw new Error('no start');
    },
    async stop() {
      if (faults.stop) throw new Error('no stop');
    },
  };
  return { driver, emit: (kind: 'attached' | 'changed' | 'detached', key: AttachedKey) => listener({ kind, key }) };
}

const unreadable: AttachedKey = {
  keyId: 'k-1',
  deviceType: 'UKEY',
  serialNumber: null,
  serialSource: null,
  manufacturer: 'Maker',
  model: 'Model',
  hardwareVersion: null,
  firmwareVersion: null,
  transport: 'HID',
  reader: null,
  vendorId: '096e',
  productId: '0850',
  attachedAt: start,
  simulated: false,
  problem: 'no permission',
  claims: {},
};

describe('a proof', () => {
  const input = {
    serialNumber: 'A-1',
    challenge: Buffer.alloc(32, 1).toString('base64url'),
    registryId: 'R-1',
    ephemeralPublicKey: Buffer.alloc(65, 4).toString('base64url'),
  };
  const never = new AbortController().signal;
  const key: AttachedKey = { ...unreadable, serialNumber: 'A-1', problem: null, claims: { firmware: '5.7.4' } };

  async function attachedTo(prove: Driver['prove']) {
    const hid = puppet('hid');
    setUp([{ ...hid.driver, prove }]);
    await keys.start();
    hid.emit('attached', key);
  }

  it('shows whether the key waits for a touch, and returns its evidence as base64url', async () => {
    let touch = () => {};
    const answer = Promise.withResolvers<KeyEvidence>();
    await attachedTo((_keyId, _request, { onTouch }) => {
      touch = onTouch;
      return answer.promise;
    });
    const proving = async () => (await keys.list()).map(one => one.proving);
    expect(await proving()).toEqual([null]);
    const result = keys.prove('k-1', input, never);
    expect(await proving()).toEqual(['running']);
    touch();
    expect(await proving()).toEqual(['touch']);
    answer.resolve({ method: 'u2f', registration: Uint8Array.of(5, 255) });
    expect(await result).toEqual({
      claims: { firmware: '5.7.4' },
      evidence: { method: 'u2f', registration: 'Bf8' },
      failure: null,
      problem: null,
    });
    expect(await proving()).toEqual([null]);
  });

  it('passes on to the driver what the registry asked, bound to its id, the serial number and the challenge', async () => {
    const requests: unknown[] = [];
    await attachedTo(async (_keyId, request) => {
      requests.push(request);
      throw new HardwareError('timeout', 'the key was not touched');
    });
    expect(await keys.prove('k-1', input, never)).toEqual({
      claims: { firmware: '5.7.4' },
      failure: 'timeout',
      problem: 'the key was not touched',
    });
    expect(requests).toEqual([
      {
        method: null,
        hostPublicKey: Buffer.alloc(65, 4),
        clientDataHash: clientDataHash('R-1', 'A-1', Buffer.alloc(32, 1)),
        relyingParty: 'devmgr.invalid',
      },
    ]);
  });

  it('is refused for a key that is not attached, and for a serial number that is not the one of the key', async () => {
    await attachedTo(() => Promise.reject(new Error('asked')));
    await expect(keys.prove('k-2', input, never)).rejects.toMatchObject({ code: 404 });
    const other = { ...input, serialNumber: 'B-2' };
    await expect(keys.prove('k-1', other, never)).rejects.toMatchObject({
      code: 1001,
      message: 'serialNumber must be A-1, the serial number of the key',
    });
  });
});

describe('a key that cannot be read at first', () => {
  it('is reported again with the same keyId when its serial number is known, but not for other changes', async () => {
    const hid = puppet('hid');
    setUp([hid.driver]);
    await keys.start();
    hid.emit('attached', unreadable);
    hid.emit('changed', { ...unreadable, problem: 'another program holds it' });
    const readable = { ...unreadable, serialNumber: 'A-1', serialSource: 'usb-descriptor', problem: null };
    hid.emit('changed', readable);
    hid.emit('changed', { ...readable, firmwareVersion: '1.0' });
    expect((await keys.list()).map(key => key.firmwareVersion)).toEqual(['1.0']);
    hid.emit('detached', readable);
    await keys.stop();
    expect(events.map(one => [one.type, one.key.keyId, one.key.serialNumber])).toEqual([
      ['KEY_ATTACHED', 'k-1', null],
      ['KEY_ATTACHED', 'k-1', 'A-1'],
      ['KEY_DETACHED', 'k-1', 'A-1'],
    ]);
  });
});

it('are listed after the first scan for a request that comes before', async () => {
  const hid = puppet('hid');
  const found = Promise.withResolvers<void>();
  setUp([{ ...hid.driver, start: listener => hid.driver.start(listener).then(() => found.promise) }]);
  const early = keys.list();
  const started = keys.start();
  hid.emit('attached', unreadable);
  found.resolve();
  expect(await early).toHaveLength(1);
  await started;
  await keys.stop();
});

describe('a driver that fails', () => {
  it('is shown as unavailable and does not affect the others', async () => {
    const working = createSimulatedDriver({ count: 1 });
    setUp([puppet('broken', { start: true, status: true, stop: true }).driver, working]);
    await keys.start();
    expect(keys.driverStatuses()).toEqual([
      { name: 'broken', state: 'unavailable', detail: expect.stringContaining('no status') },
      { name: 'simulated', state: 'ready', detail: expect.any(String) },
    ]);
    expect(await keys.list()).toHaveLength(1);
    await keys.stop();
  });

  it('reports nothing after the daemon started to stop', async () => {
    const hid = puppet('hid');
    setUp([hid.driver]);
    await keys.start();
    const stopped = keys.stop();
    hid.emit('attached', unreadable);
    await stopped;
    expect(events).toEqual([]);
  });
});
