import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Driver } from '../../drivers/driver.ts';
import { type Recorder, recorder } from '../support/key-events.ts';

/** What the suite needs of a driver under test: hands that plug one key and pull it. */
export interface DriverUnderTest {
  readonly driver: Driver;
  /** Plugs the key in; the driver is left to find it. */
  plug(): Promise<void>;
  unplug(): Promise<void>;
  /** A second driver, not started, that meets the key as it is plugged in now. */
  another(): Driver;
  readonly serialNumber: string;
}

const FIELDS = [
  'attachedAt',
  'deviceType',
  'firmwareVersion',
  'hardwareVersion',
  'keyId',
  'manufacturer',
  'model',
  'problem',
  'productId',
  'reader',
  'serialNumber',
  'serialSource',
  'simulated',
  'transport',
  'vendorId',
];

/** What every driver does, whatever it drives. `make` gives a fresh driver, not started, with nothing plugged in. */
export function driverContract(name: string, make: () => Promise<DriverUnderTest>): void {
  describe(`the ${name} driver keeps the contract of drivers`, () => {
    let under: DriverUnderTest;
    let driver: Driver;
    let told: Recorder;

    beforeEach(async () => {
      under = await make();
      driver = under.driver;
      told = recorder(driver);
    });
    afterEach(() => driver.stop());

    async function startedWithKey() {
      await driver.start(told.listener);
      await under.plug();
      return told.next('attached');
    }

    it('is unavailable with words before it starts, ready with words afterwards, and holds no key', async () => {
      expect(driver.status()).toMatchObject({ name: driver.name, state: 'unavailable' });
      expect(driver.status().detail).not.toBe('');
      await driver.start(told.listener);
      expect(driver.status()).toMatchObject({ name: driver.name, state: 'ready' });
      expect(driver.status().detail).not.toBe('');
      expect(driver.keys()).toEqual([]);
    });

    it('tells a key once when it is plugged in, whole, and lists it', async () => {
      const key = await startedWithKey();
      expect(Object.keys(key).sort()).toEqual(FIELDS);
      expect(key).toMatchObject({ serialNumber: under.serialNumber, problem: null });
      expect(key.keyId).toMatch(/^[A-Za-z0-9-]+$/);
      expect(key.attachedAt).toBeGreaterThan(1_700_000_000_000);
      expect(driver.keys()).toEqual([key]);
      expect(told.kinds()).toEqual(['attached']);
    });

    it('tells a key once when it is pulled, as it was told before, and lists it no more', async () => {
      const key = await startedWithKey();
      await under.unplug();
      expect(await told.next('detached')).toEqual(key);
      expect(driver.keys()).toEqual([]);
      expect(told.kinds()).toEqual(['attached', 'detached']);
    });

    it('gives a key that is pulled and put back a new keyId and the same serial', async () => {
      const first = await startedWithKey();
      await under.unplug();
      await told.next('detached');
      await under.plug();
      const second = await told.next('attached');
      expect(second.keyId).not.toBe(first.keyId);
      expect(second.serialNumber).toBe(first.serialNumber);
    });

    it('has told what was plugged in before it started when start resolves', async () => {
      const key = await startedWithKey();
      const later = under.another();
      const heard = recorder(later);
      await later.start(heard.listener);
      expect(heard.kinds()).toEqual(['attached']);
      expect(later.keys().map(one => one.serialNumber)).toEqual([key.serialNumber]);
      await later.stop();
    });

    it('tells nothing once stop has resolved, holds no key, and can be stopped again', async () => {
      await startedWithKey();
      await driver.stop();
      const before = told.events.length;
      await under.unplug();
      await driver.stop();
      expect(told.events.length).toBe(before);
      expect(driver.keys()).toEqual([]);
      expect(driver.status().state).toBe('unavailable');
    });
  });
}
