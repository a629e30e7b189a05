import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Driver, KeyEvent } from '../../drivers/driver.ts';
import { HardwareError } from '../../drivers/hardware-error.ts';
import { createHidDriver, type HidDriverOptions } from '../../drivers/hid/index.ts';
import type { KeyCards } from '../../drivers/key-cards.ts';
import { FakeHid } from '../support/fake-hid.ts';
import { FakeCtapKey, FakeOtpKey } from '../support/fake-ukey.ts';

let system: FakeHid;
let driver: Driver;
let events: KeyEvent[];
const notices: string[] = [];

const make = (options: HidDriverOptions = {}): Driver =>
  createHidDriver({ system, notice: message => notices.push(message), ...options });
const keyEvents = () => events.flatMap(event => (event.kind === 'status' ? [] : [{ kind: event.kind, ...event.key }]));
const reported = () => keyEvents().map(event => `${event.kind} ${event.serialNumber}`);
/** Advances the test's clock by this many milliseconds, with every timer that is due. */
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
  try {
    await driver.stop();
    expect(system.handles, 'handles left open').toBe(0);
    expect(system.watchers, 'watches left running').toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

const YUBIKEY_5 = '0e020400bc614e0401030503050403';
const yubikey = () => new FakeCtapKey([5, 4, 3], { 66: YUBIKEY_5 });

/** The smart card interface of a key that does not answer until `answers` is set. Counts the times it is opened. */
function silentCard() {
  const card = { answers: false, opened: 0 };
  const reply = ([, instruction]: Uint8Array) => Buffer.from(instruction === 0xa4 ? '9000' : 'd10241319000', 'hex');
  const keyCards: KeyCards = {
    absence: () => null,
    onArrival: () => {},
    async open() {
      card.opened++;
      if (!card.answers) throw new HardwareError('timeout', 'the card does not answer');
      return { close: async () => {}, transmit: async apdu => reply(apdu) };
    },
  };
  return { card, keyCards };
}

describe('a key whose smart card interface does not answer', () => {
  test('is asked again after 2 s, then at doubled intervals up to a minute, until it answers', async () => {
    const { card, keyCards } = silentCard();
    driver = make({ keyCards });
    system.plug({ ids: '349e:0026', hasSmartCard: true });
    const start = driver.start(event => events.push(event));
    await pass(2_500);
    await start;
    expect(keyEvents()).toMatchObject([{ kind: 'attached', serialNumber: null }]);
    const asked: number[] = [];
    for (let second = 0, seen = card.opened; second < 240; second++) {
      await pass(1_000);
      if (card.opened > seen) asked.push(second);
      seen = card.opened;
    }
    const pauses = asked.slice(1).map((second, at) => second - asked[at]!);
    expect(pauses.length).toBeGreaterThanOrEqual(5);
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
    expect(pauses[0]).toBeLessThan(10);
    expect(pauses.at(-1)).toBeGreaterThanOrEqual(60);
    card.answers = true;
    await pass(70_000);
    expect(reported()).toEqual(['attached null', 'changed A1']);
  });
});

describe('USB keys', () => {
  test('of the same model are separate keys', async () => {
    await started();
    system.plug({ serial: 'A1' });
    system.plug({ serial: 'A2' });
    await pass(10);
    expect(reported()).toEqual(['attached A1', 'attached A2']);
    expect(driver.keys().map(key => key.serialNumber)).toEqual(['A1', 'A2']);
  });

  test('are reported once, from the best source, if their interfaces appear one by one', async () => {
    await started();
    const otp = new FakeOtpKey('050403', '00bc614ec804');
    const address = system.plug({ ids: '1050:0407', usages: ['otp'], interfaces: { otp } });
    await pass(300);
    expect(reported()).toEqual([]);
    system.add(address, 'fido', { ids: '1050:0407', interfaces: { fido: yubikey() } });
    await pass(100);
    expect(keyEvents()).toMatchObject([
      { kind: 'attached', serialNumber: '12345678', serialSource: 'yubikey-management', firmwareVersion: '5.4.3' },
    ]);
  });

  test('are reported from the next source if the best one never appears', async () => {
    await started();
    system.plug({ ids: '1050:0407', usages: ['otp'], interfaces: { otp: new FakeOtpKey('050403', '00bc614ec804') } });
    await pass(2_000);
    expect(keyEvents()).toMatchObject([{ kind: 'attached', serialNumber: '12345678', serialSource: 'yubikey-otp' }]);
  });

  test('do not include mice and keyboards', async () => {
    await started();
    system.plug({ ids: '046d:c31c', usages: ['otp'] });
    system.plug({ ids: '046d:c077', usages: ['mouse'] });
    await pass(10_000);
    expect(events.filter(event => event.kind !== 'status')).toEqual([]);
  });

  test('include devices that the settings name', async () => {
    driver = make({ match: ['dead'] });
    await started();
    system.plug({ ids: 'dead:beef', serial: 'B1', usages: ['vendor'] });
    await pass(10);
    expect(reported()).toEqual(['attached B1']);
  });

  test('have texts that are safe on a terminal', async () => {
    await started();
    system.plug({ serial: 'A1', product: '\u001b[2Jkey\u202e' });
    await pass(10);
    expect(driver.keys()[0]).toMatchObject({ model: '[2Jkey', manufacturer: 'Feitian', hardwareVersion: '5.43' });
  });

  test('are found by scanning if the system has no events', async () => {
    system.events = false;
    await started();
    const address = system.plug({ serial: 'A1' });
    await pass(600);
    system.unplug(address);
    await pass(600);
    expect(reported()).toEqual(['attached A1', 'detached A1']);
  });

  test('are found by scanning if their event was lost', async () => {
    await started();
    system.events = false;
    system.plug({ serial: 'A1' });
    await pass(2_100);
    expect(reported()).toEqual(['attached A1']);
    // From now on the driver does not rely on events.
    system.plug({ serial: 'A2' });
    await pass(600);
    expect(reported()).toEqual(['attached A1', 'attached A2']);
  });
});

describe('keys with the same serial', () => {
  test('have no serial while both are attached, and not after one was unplugged', async () => {
    await started();
    const first = system.plug({ serial: 'TWIN-7' });
    await pass(100);
    const second = system.plug({ serial: 'TWIN-7' });
    await pass(100);
    expect(reported()).toEqual(['attached TWIN-7', 'changed null', 'attached null']);
    for (const key of driver.keys()) {
      expect(key).toMatchObject({ serialNumber: null, serialSource: null });
      expect(key.problem).toContain('TWIN-7');
    }
    system.unplug(first);
    await pass(100);
    expect(driver.keys()).toMatchObject([{ serialNumber: null }]);
    system.unplug(second);
    system.plug({ serial: 'TWIN-7' });
    await pass(100);
    expect(driver.keys()).toMatchObject([{ serialNumber: 'TWIN-7', problem: null }]);
  });

  test('are one key if it was unplugged and plugged in again between two scans', async () => {
    await started();
    const first = system.plug({ serial: 'A1' });
    await pass(100);
    system.events = false;
    system.unplug(first);
    system.events = true;
    system.plug({ serial: 'A1' });
    await pass(100);
    expect(reported()).toEqual(['attached A1', 'detached A1', 'attached A1']);
    expect(new Set(keyEvents().map(event => event.keyId)).size).toBe(2);
  });
});

test('a key with a serial number that may not be opened is reported with it, and with the reason why it is of little use', async () => {
  await started();
  system.permitted = false;
  system.plug({ ids: '096e:0850', serial: 'FT-9' });
  await pass(3_000);
  expect(driver.keys()).toMatchObject([
    { serialNumber: 'FT-9', problem: expect.stringMatching(/not allowed to open/) },
  ]);
});

test('a key that was replaced between two scans is not reported with the serial of the other key', async () => {
  system.events = false;
  await started();
  system.permitted = false;
  const first = system.plug({ ids: '1050:0402', product: 'First', interfaces: { fido: yubikey() } });
  await pass(510);
  system.unplug(first);
  system.plug({ ids: '1050:0402', product: 'Second', interfaces: { fido: yubikey() }, node: first });
  system.permitted = true;
  await pass(3_000);
  expect(keyEvents().map(({ kind, model }) => `${kind} ${model}`)).toEqual([
    'attached Second',
    // Its claims were read.
    'changed Second',
  ]);
});

test('a key that is plugged in again is unique, even if the system still lists it at its old location', async () => {
  await started();
  const old = system.plug({ serial: 'A1' });
  await pass(100);
  system.plug({ serial: 'A1' });
  system.afterList = () => {
    system.afterList = null;
    system.events = false;
    system.unplug(old);
  };
  await pass(100);
  expect(reported()).toEqual(['attached A1', 'detached A1', 'attached A1']);
});

describe('a key that may not be opened', () => {
  const plugYubikey = () => system.plug({ ids: '1050:0402', interfaces: { fido: yubikey() } });

  test('is not reported at first, because udev may be late', async () => {
    await started();
    system.permitted = false;
    plugYubikey();
    await pass(2_000);
    expect(reported()).toEqual([]);
    system.permitted = true;
    await pass(1_500);
    expect(reported()).toEqual(['attached 12345678', 'changed 12345678']);
  });

  test('is reported after 5 seconds with the udev rule, and again when it can be opened', async () => {
    await started();
    system.permitted = false;
    plugYubikey();
    await pass(6_500);
    expect(keyEvents()).toMatchObject([{ kind: 'attached', serialNumber: null, serialSource: null }]);
    expect(keyEvents()[0]?.problem).toContain('GROUP="devmgr"');
    system.permitted = true;
    await pass(4_600);
    expect(reported()).toEqual(['attached null', 'changed 12345678', 'changed 12345678']);
    expect(driver.keys()[0]?.problem).toBeNull();
  });

  test('is reported at once if it was attached before the start', async () => {
    system.permitted = false;
    plugYubikey();
    await started();
    expect(reported()).toEqual(['attached null']);
  });

  test('has no problem if its serial is in the descriptor', async () => {
    system.permitted = false;
    system.plug({ serial: 'A1' });
    await started();
    expect(driver.keys()[0]).toMatchObject({ serialNumber: 'A1', problem: null });
  });
});

describe('the driver survives', () => {
  test('a missing library: it is unavailable with the reason until the library is installed', async () => {
    system.listFailure = new HardwareError('unavailable', 'libudev.so.1 is missing');
    await started();
    expect(driver.status()).toEqual({ name: 'hid', state: 'unavailable', detail: 'libudev.so.1 is missing' });
    system.listFailure = null;
    system.plug({ serial: 'A1' });
    await pass(10_100);
    expect(driver.status().state).toBe('ready');
    expect(reported()).toEqual(['attached A1']);
  });

  test.each(['a text', undefined, 42, new TypeError('getter')])('a scan that throws %o', async failure => {
    await started();
    system.listFailure = failure ?? 'nothing';
    system.plug({ serial: 'A1' });
    await pass(100);
    expect(driver.status().state).toBe('unavailable');
    system.listFailure = null;
    system.hint();
    await pass(100);
    expect(reported()).toEqual(['attached A1']);
  });

  test('a listener that throws', async () => {
    const start = driver.start(event => {
      events.push(event);
      throw new Error('listener');
    });
    await pass(0);
    await start;
    const address = system.plug({ serial: 'A1' });
    await pass(100);
    system.unplug(address);
    await pass(100);
    expect(reported()).toEqual(['attached A1', 'detached A1']);
    expect(notices).toContain('a listener failed on a key event');
  });

  test('an interface that throws something other than a HardwareError', async () => {
    const interfaces = { fido: { write: () => Promise.reject('could not write') } };
    system.plug({ ids: '1050:0402', interfaces });
    await started();
    expect(driver.keys()[0]?.problem).toContain('no serial could be read');
  });
});

describe('a key that is unplugged while it is identified', () => {
  const silent = { write: async () => undefined, read: (signal: AbortSignal) => aborted(signal) };
  const aborted = (signal: AbortSignal): Promise<never> =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new HardwareError('aborted', 'canceled')), { once: true });
    });

  test('is not reported', async () => {
    await started();
    const address = system.plug({ ids: '1050:0402', interfaces: { fido: silent } });
    await pass(100);
    expect(system.handles).toBe(1);
    system.unplug(address);
    await pass(100);
    expect(system.handles).toBe(0);
    expect(reported()).toEqual([]);
  });

  test('does not prevent the driver from stopping', async () => {
    await started();
    system.plug({ ids: '1050:0402', interfaces: { fido: silent } });
    await pass(100);
    await driver.stop();
    expect(system.handles).toBe(0);
    expect(reported()).toEqual([]);
  });
});

test('every HID report is reported as traffic of its key', async () => {
  const lines: string[] = [];
  driver = make({ traffic: line => lines.push(`${line.direction} ${line.keyId} ${line.bytes.length}`) });
  system.plug({ ids: '1050:0402', interfaces: { fido: yubikey() } });
  await started();
  const { keyId } = driver.keys()[0]!;
  expect(lines).toEqual(['out', 'in', 'out', 'in'].map(direction => `${direction} ${keyId} 64`));
});
