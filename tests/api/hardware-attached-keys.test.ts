import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPresence, type Presence } from '../../daemon/hardware/attached-keys.ts';
import type { Change } from '../../daemon/store/store.ts';
import type { AttachedKey, Driver, KeyEvent } from '../../drivers/driver.ts';
import { createSimulatedDriver, type SimulatedDriver } from '../../drivers/simulated/index.ts';
import type { Key } from '../../src/contract/hardware.ts';
import { openTemporary } from '../support/sqlite.ts';
import { registration } from '../support/stream-server.ts';

const log = { debug: () => {}, info: () => {}, warn: () => {} };
const start = 1_800_000_000_000;

let temporary: Awaited<ReturnType<typeof openTemporary>>;
let clock: { wall: number; monotonic: number };
let told: { type: string; at: number; key: Key }[];
let presence: Presence;

function setUp(drivers: readonly Driver[]): void {
  presence = createPresence({
    drivers,
    store: temporary.store,
    hub: { publish: (type, at, data) => told.push({ type, at, key: data as Key }) },
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
  told = [];
});
afterEach(async () => {
  await presence.stop();
  await temporary.cleanup();
});

describe('keys that come and go', () => {
  let driver: SimulatedDriver;
  beforeEach(async () => {
    driver = createSimulatedDriver({ count: 0, now: () => clock.wall });
    setUp([driver]);
    await presence.start();
  });

  it('are told in order, each with the device that bears its serial at that time', async () => {
    const key = await driver.attach(1);
    await commit(registration('SIM-UKEY-0001'));
    pass(1);
    await driver.detach(key.keyId);
    await driver.attach(1);
    await presence.stop();
    const device = { deviceId: 'DEV-1', status: 'INACTIVE' };
    expect(told.map(one => [one.type, one.at - start, one.key.device])).toEqual([
      ['KEY_ATTACHED', 0, expect.toBeOneOf([null, device])],
      ['KEY_DETACHED', 1000, device],
      ['KEY_ATTACHED', 1000, device],
    ]);
    expect(told[0]!.key.keyId).toBe(told[1]!.key.keyId);
    expect(told[2]!.key.keyId).not.toBe(told[1]!.key.keyId);
  });

  it('are listed while they are there, in the order of plugging', async () => {
    await driver.attach(3);
    await driver.attach(1);
    expect((await presence.list()).map(key => key.serialNumber)).toEqual(['SIM-UKEY-0003', 'SIM-UKEY-0001']);
    await driver.detach();
    expect((await presence.list()).map(key => key.serialNumber)).toEqual(['SIM-UKEY-0003']);
  });

  it('of an ACTIVE device leave a use of the seconds they were plugged in, by nobody', async () => {
    await commit(registration('SIM-UKEY-0001'));
    await activate(1);
    pass(100);
    await driver.attach(1);
    pass(42);
    await driver.detach();
    await presence.stop();
    const device = (await temporary.store.device(1))!;
    expect(device).toMatchObject({ usageCount: 1, usageSeconds: 42, lastUsedAt: start + 142_000 });
    const [entry] = await temporary.store.events({ after: 0, limit: 10, types: ['DEVICE_USED'] });
    expect(entry).toMatchObject({ device: 1, actor: null, requestId: null });
  });

  it('count from their activation where that came later', async () => {
    await commit(registration('SIM-UKEY-0001'));
    await driver.attach(1);
    pass(100);
    await activate(1);
    pass(7);
    await driver.detach();
    await presence.stop();
    expect(await temporary.store.device(1)).toMatchObject({ usageCount: 1, usageSeconds: 7 });
  });

  it('are measured on a clock that is not set back', async () => {
    await commit(registration('SIM-UKEY-0001'));
    await activate(1);
    pass(1000);
    await driver.attach(1);
    clock.monotonic += 20_000;
    clock.wall -= 500_000;
    await driver.detach();
    await presence.stop();
    expect(await temporary.store.device(1)).toMatchObject({ usageSeconds: 20 });
  });

  it('leave their use when the daemon stops, once', async () => {
    await commit(registration('SIM-UKEY-0001'));
    await activate(1);
    await driver.attach(1);
    pass(5);
    await Promise.all([presence.stop(), presence.stop()]);
    expect(await temporary.store.device(1)).toMatchObject({ usageCount: 1, usageSeconds: 5 });
  });

  it('leave no use where their device is not ACTIVE or their serial not registered', async () => {
    await commit(registration('SIM-UKEY-0001'));
    await driver.attach(1);
    await driver.attach(3);
    pass(5);
    await driver.detach();
    await driver.detach();
    await presence.stop();
    expect(await temporary.store.events({ after: 0, limit: 10, types: ['DEVICE_USED'] })).toEqual([]);
  });

  it('are told of without their device where the store cannot be read', async () => {
    await temporary.store.close();
    await driver.attach(1);
    await driver.detach();
    await presence.stop();
    expect(told.map(one => [one.type, one.key.device])).toEqual([
      ['KEY_ATTACHED', null],
      ['KEY_DETACHED', null],
    ]);
  });
});

/** A driver that does what it is told, the forbidden included. */
function puppet(name: string, faults: { start?: boolean; status?: boolean; stop?: boolean } = {}) {
  let listener: (event: KeyEvent) => void = () => {};
  const driver: Driver = {
    name,
    status() {
      if (faults.status) throw new Error('no status');
      return { name, state: 'ready', detail: 'watching' };
    },
    keys: () => [],
    async start(given) {
      listener = given;
      if (faults.start) throw new Error('no start');
    },
    async stop() {
      if (faults.stop) throw new Error('no stop');
    },
  };
  return { driver, tell: (kind: 'attached' | 'changed' | 'detached', key: AttachedKey) => listener({ kind, key }) };
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
};

describe('a key that cannot be read at first', () => {
  it('is told once more, under the same keyId, when its serial is known, and not for any other change', async () => {
    const hid = puppet('hid');
    setUp([hid.driver]);
    await presence.start();
    hid.tell('attached', unreadable);
    hid.tell('changed', { ...unreadable, problem: 'another program holds it' });
    const readable = { ...unreadable, serialNumber: 'A-1', serialSource: 'usb-descriptor', problem: null };
    hid.tell('changed', readable);
    hid.tell('changed', { ...readable, firmwareVersion: '1.0' });
    expect((await presence.list()).map(key => key.firmwareVersion)).toEqual(['1.0']);
    hid.tell('detached', readable);
    await presence.stop();
    expect(told.map(one => [one.type, one.key.keyId, one.key.serialNumber])).toEqual([
      ['KEY_ATTACHED', 'k-1', null],
      ['KEY_ATTACHED', 'k-1', 'A-1'],
      ['KEY_DETACHED', 'k-1', 'A-1'],
    ]);
  });
});

describe('a driver that fails', () => {
  it('is shown as unavailable, and the others go on', async () => {
    const good = createSimulatedDriver({ count: 1 });
    setUp([puppet('broken', { start: true, status: true, stop: true }).driver, good]);
    await presence.start();
    expect(presence.driverStatuses()).toEqual([
      { name: 'broken', state: 'unavailable', detail: expect.stringContaining('no status') },
      { name: 'simulated', state: 'ready', detail: expect.any(String) },
    ]);
    expect(await presence.list()).toHaveLength(1);
    await presence.stop();
  });

  it('tells nothing more once the daemon is stopping', async () => {
    const hid = puppet('hid');
    setUp([hid.driver]);
    await presence.start();
    const stopped = presence.stop();
    hid.tell('attached', unreadable);
    await stopped;
    expect(told).toEqual([]);
  });
});
