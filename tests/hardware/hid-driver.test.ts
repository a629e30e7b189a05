import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Driver, HardwareError, type KeyEvent } from '../../drivers/driver.ts';
import { createHidDriver, type HidDriverOptions } from '../../drivers/hid/index.ts';
import { FakeHid } from '../support/fake-hid.ts';
import { FakeCtapKey, FakeOtpKey } from '../support/fake-ukey.ts';

let system: FakeHid;
let driver: Driver;
let events: KeyEvent[];
const notices: string[] = [];

const make = (options: HidDriverOptions = {}): Driver =>
  createHidDriver({ system, notice: message => notices.push(message), ...options });
const keyEvents = () => events.flatMap(event => (event.kind === 'status' ? [] : [{ kind: event.kind, ...event.key }]));
const told = () => keyEvents().map(event => `${event.kind} ${event.serialNumber}`);
/** The clock is the test's: this lets so much of it pass, with everything that falls due. */
const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);
const started = async (): Promise<void> => {
  const start = driver.start(event => events.push(event));
  await pass(1);
  await start;
};

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
  system = new FakeHid();
  driver = make();
  events = [];
  notices.length = 0;
});
afterEach(async () => {
  await driver.stop();
  expect(system.handles, 'handles left open').toBe(0);
  expect(system.watchers, 'watches left running').toBe(0);
  vi.useRealTimers();
});

const YUBIKEY_5 = '0e020400bc614e0401030503050403';
const yubikey = () => new FakeCtapKey([5, 4, 3], { 66: YUBIKEY_5 });

describe('keys on the bus', () => {
  test('two of one make and model are two keys', async () => {
    await started();
    system.plug({ serial: 'A1' });
    system.plug({ serial: 'A2' });
    await pass(10);
    expect(told()).toEqual(['attached A1', 'attached A2']);
    expect(driver.keys().map(key => key.serialNumber)).toEqual(['A1', 'A2']);
  });

  test('a key whose interfaces appear one after the other is told once, from its best source', async () => {
    await started();
    const otp = new FakeOtpKey('050403', '00bc614ec804');
    const unit = system.plug({ ids: '1050:0407', usages: ['otp'], sides: { otp } });
    await pass(300);
    expect(told()).toEqual([]);
    system.add(unit, 'fido', { ids: '1050:0407', sides: { fido: yubikey() } });
    await pass(100);
    expect(keyEvents()).toMatchObject([
      { kind: 'attached', serialNumber: '12345678', serialSource: 'yubikey-management', firmwareVersion: '5.4.3' },
    ]);
  });

  test('a key whose best source never appears is told from the next one', async () => {
    await started();
    system.plug({ ids: '1050:0407', usages: ['otp'], sides: { otp: new FakeOtpKey('050403', '00bc614ec804') } });
    await pass(2_000);
    expect(keyEvents()).toMatchObject([{ kind: 'attached', serialNumber: '12345678', serialSource: 'yubikey-otp' }]);
  });

  test('mice and keyboards are left alone', async () => {
    await started();
    system.plug({ ids: '046d:c31c', usages: ['otp'] });
    system.plug({ ids: '046d:c077', usages: ['mouse'] });
    await pass(10_000);
    expect(events.filter(event => event.kind !== 'status')).toEqual([]);
  });

  test('a device that the settings name is a key', async () => {
    driver = make({ match: ['dead'] });
    await started();
    system.plug({ ids: 'dead:beef', serial: 'B1', usages: ['vendor'] });
    await pass(10);
    expect(told()).toEqual(['attached B1']);
  });

  test('carry texts that are safe on a terminal', async () => {
    await started();
    system.plug({ serial: 'A1', product: '\u001b[2Jkey\u202e' });
    await pass(10);
    expect(driver.keys()[0]).toMatchObject({ model: '[2Jkey', manufacturer: 'Feitian', hardwareVersion: '5.43' });
  });

  test('are found without any event, by looking again', async () => {
    system.events = false;
    await started();
    const unit = system.plug({ serial: 'A1' });
    await pass(600);
    system.pull(unit);
    await pass(600);
    expect(told()).toEqual(['attached A1', 'detached A1']);
  });

  test('whose event was lost are found by looking again', async () => {
    await started();
    system.events = false;
    system.plug({ serial: 'A1' });
    await pass(2_100);
    expect(told()).toEqual(['attached A1']);
    // From now on events are not relied on.
    system.plug({ serial: 'A2' });
    await pass(600);
    expect(told()).toEqual(['attached A1', 'attached A2']);
  });
});

describe('keys that give one serial', () => {
  test('name neither while both are there, and not after one was pulled', async () => {
    await started();
    const first = system.plug({ serial: 'TWIN-7' });
    await pass(100);
    const second = system.plug({ serial: 'TWIN-7' });
    await pass(100);
    expect(told()).toEqual(['attached TWIN-7', 'changed null', 'attached null']);
    for (const key of driver.keys()) {
      expect(key).toMatchObject({ serialNumber: null, serialSource: null });
      expect(key.problem).toContain('TWIN-7');
    }
    system.pull(first);
    await pass(100);
    expect(driver.keys()).toMatchObject([{ serialNumber: null }]);
    system.pull(second);
    system.plug({ serial: 'TWIN-7' });
    await pass(100);
    expect(driver.keys()).toMatchObject([{ serialNumber: 'TWIN-7', problem: null }]);
  });

  test('are one key when it was pulled and put back before anyone looked', async () => {
    await started();
    const first = system.plug({ serial: 'A1' });
    await pass(100);
    system.events = false;
    system.pull(first);
    system.events = true;
    system.plug({ serial: 'A1' });
    await pass(100);
    expect(told()).toEqual(['attached A1', 'detached A1', 'attached A1']);
    expect(new Set(keyEvents().map(event => event.keyId)).size).toBe(2);
  });
});

test('a key that was exchanged before anyone looked is not told with the serial of the one in its place', async () => {
  system.events = false;
  await started();
  system.permitted = false;
  const first = system.plug({ ids: '1050:0402', product: 'First', sides: { fido: yubikey() } });
  await pass(510);
  system.pull(first);
  system.plug({ ids: '1050:0402', product: 'Second', sides: { fido: yubikey() }, node: first });
  system.permitted = true;
  await pass(3_000);
  expect(keyEvents().map(({ kind, model }) => `${kind} ${model}`)).toEqual(['attached Second']);
});

test('a key put back is no twin of itself while the system still lists it at its old place', async () => {
  await started();
  const old = system.plug({ serial: 'A1' });
  await pass(100);
  system.plug({ serial: 'A1' });
  system.afterList = () => {
    system.afterList = null;
    system.events = false;
    system.pull(old);
  };
  await pass(100);
  expect(told()).toEqual(['attached A1', 'detached A1', 'attached A1']);
});

describe('a key that may not be opened', () => {
  const plugYubikey = () => system.plug({ ids: '1050:0402', sides: { fido: yubikey() } });

  test('is waited for, as udev may be behind', async () => {
    await started();
    system.permitted = false;
    plugYubikey();
    await pass(2_000);
    expect(told()).toEqual([]);
    system.permitted = true;
    await pass(1_000);
    expect(told()).toEqual(['attached 12345678']);
  });

  test('is listed after 5 seconds with the udev rule, and told again when it may be', async () => {
    await started();
    system.permitted = false;
    plugYubikey();
    await pass(6_000);
    expect(keyEvents()).toMatchObject([{ kind: 'attached', serialNumber: null, serialSource: null }]);
    expect(keyEvents()[0]?.problem).toContain('GROUP="devmgr"');
    system.permitted = true;
    await pass(4_100);
    expect(told()).toEqual(['attached null', 'changed 12345678']);
    expect(driver.keys()[0]?.problem).toBeNull();
  });

  test('is listed at once when it was there before the start', async () => {
    system.permitted = false;
    plugYubikey();
    await started();
    expect(told()).toEqual(['attached null']);
  });

  test('is no problem where nothing had to be opened', async () => {
    system.permitted = false;
    system.plug({ serial: 'A1' });
    await started();
    expect(driver.keys()[0]).toMatchObject({ serialNumber: 'A1', problem: null });
  });
});

describe('what the system fails with is survived', () => {
  test('a missing library makes the driver unavailable with the reason, until it is there', async () => {
    system.listFailure = new HardwareError('unavailable', 'libudev.so.1 is missing');
    await started();
    expect(driver.status()).toEqual({ name: 'hid', state: 'unavailable', detail: 'libudev.so.1 is missing' });
    system.listFailure = null;
    system.plug({ serial: 'A1' });
    await pass(10_100);
    expect(driver.status().state).toBe('ready');
    expect(told()).toEqual(['attached A1']);
  });

  test.each(['a text', undefined, 42, new TypeError('getter')])('a listing that throws %o', async failure => {
    await started();
    system.listFailure = failure ?? 'nothing';
    system.plug({ serial: 'A1' });
    await pass(100);
    expect(driver.status().state).toBe('unavailable');
    system.listFailure = null;
    system.hint();
    await pass(100);
    expect(told()).toEqual(['attached A1']);
  });

  test('a listener that throws', async () => {
    const start = driver.start(event => {
      events.push(event);
      throw new Error('listener');
    });
    await pass(0);
    await start;
    const unit = system.plug({ serial: 'A1' });
    await pass(100);
    system.pull(unit);
    await pass(100);
    expect(told()).toEqual(['attached A1', 'detached A1']);
    expect(notices).toContain('a listener failed on a key event');
  });

  test('a side that throws what is no error of ours', async () => {
    const sides = { fido: { write: () => Promise.reject('could not write') } };
    system.plug({ ids: '1050:0402', sides });
    await started();
    expect(driver.keys()[0]?.problem).toContain('no serial could be read');
  });
});

describe('a key that is pulled while it is asked', () => {
  const mute = { write: async () => undefined, read: (signal: AbortSignal) => aborted(signal) };
  const aborted = (signal: AbortSignal): Promise<never> =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new HardwareError('aborted', 'given up')), { once: true });
    });

  test('is never told', async () => {
    await started();
    const unit = system.plug({ ids: '1050:0402', sides: { fido: mute } });
    await pass(100);
    expect(system.handles).toBe(1);
    system.pull(unit);
    await pass(100);
    expect(system.handles).toBe(0);
    expect(told()).toEqual([]);
  });

  test('does not keep the driver from stopping', async () => {
    await started();
    system.plug({ ids: '1050:0402', sides: { fido: mute } });
    await pass(100);
    await driver.stop();
    expect(system.handles).toBe(0);
    expect(told()).toEqual([]);
  });
});

test('every report that passes is told to the traffic log with the key it belongs to', async () => {
  const lines: string[] = [];
  driver = make({ traffic: line => lines.push(`${line.direction} ${line.keyId} ${line.bytes.length}`) });
  system.plug({ ids: '1050:0402', sides: { fido: yubikey() } });
  await started();
  const { keyId } = driver.keys()[0]!;
  expect(lines).toEqual(['out', 'in', 'out', 'in'].map(direction => `${direction} ${keyId} 64`));
});
