import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Driver } from '../../drivers/driver.ts';
import { type Recorder, recorder } from '../support/key-events.ts';

/** Requirements of the suite: a driver, and a way to plug one key in and to unplug it. */
export interface DriverUnderTest {
  readonly driver: Driver;
  /** Plugs the key in. The driver has to find it. */
  plug(): Promise<void>;
  unplug(): Promise<void>;
  /** A second driver, not started, for the same key. */
  another(): Driver;
  readonly serialNumber: string;
}

const FIELDS = [
  'attachedAt',
  'claims',
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

/** The guarantees of every driver. `make` returns a new driver, not started, with no key plugged in. */
export function driverContract(name: string, make: () => Promise<DriverUnderTest>): void {
  describe(`the ${name} driver`, () => {
    let under: DriverUnderTest;
    let driver: Driver;
    let recorded: Recorder;

    beforeEach(async () => {
      under = await make();
      driver = under.driver;
      recorded = recorder(driver);
    });
    afterEach(() => driver.stop());

    async function startedWithKey() {
      await driver.start(recorded.listener);
      await under.plug();
      return recorded.next('attached');
    }

    it('is unavailable before the start and ready after it, each with a detail and without keys', async () => {
      expect(driver.status()).toMatchObject({ name: driver.name, state: 'unavailable' });
      expect(driver.status().detail).not.toBe('');
      await driver.start(recorded.listener);
      expect(driver.status()).toMatchObject({ name: driver.name, state: 'ready' });
      expect(driver.status().detail).not.toBe('');
      expect(driver.keys()).toEqual([]);
    });

    it('reports a key once when it is plugged in, complete, and lists it', async () => {
      const key = await startedWithKey();
      expect(Object.keys(key).sort()).toEqual(FIELDS);
      expect(key).toMatchObject({ serialNumber: under.serialNumber, problem: null });
      expect(key.keyId).toMatch(/^[A-Za-z0-9-]+$/);
      expect(key.attachedAt).toBeGreaterThan(1_700_000_000_000);
      expect(driver.keys()).toEqual([key]);
      expect(recorded.kinds()).toEqual(['attached']);
    });

    it('reports a key once when it is unplugged, unchanged, and does not list it any more', async () => {
      const key = await startedWithKey();
      await under.unplug();
      expect(await recorded.next('detached')).toEqual(key);
      expect(driver.keys()).toEqual([]);
      expect(recorded.kinds()).toEqual(['attached', 'detached']);
    });

    it('gives a key that is plugged in again a new keyId and the same serial', async () => {
      const first = await startedWithKey();
      await under.unplug();
      await recorded.next('detached');
      await under.plug();
      const second = await recorded.next('attached');
      expect(second.keyId).not.toBe(first.keyId);
      expect(second.serialNumber).toBe(first.serialNumber);
    });

    it('has reported the keys plugged in before the start when start resolves', async () => {
      const key = await startedWithKey();
      const second = under.another();
      const secondRecorded = recorder(second);
      await second.start(secondRecorded.listener);
      expect(secondRecorded.kinds()).toEqual(['attached']);
      expect(second.keys().map(one => one.serialNumber)).toEqual([key.serialNumber]);
      await second.stop();
    });

    it('reports nothing after stop has resolved, lists no key, and can be stopped again', async () => {
      await startedWithKey();
      await driver.stop();
      const before = recorded.events.length;
      await under.unplug();
      await driver.stop();
      expect(recorded.events.length).toBe(before);
      expect(driver.keys()).toEqual([]);
      expect(driver.status().state).toBe('unavailable');
    });
  });
}
