/** A driver for each test of a file, with its events recorded: over HID with keys of the tests, or over the real PC/SC service. */
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { Driver } from '../../drivers/driver.ts';
import { createHidDriver } from '../../drivers/hid/index.ts';
import { createPcscDriver } from '../../drivers/pcsc/index.ts';
import { FakeHid } from './fake-hid.ts';
import { type Recorder, recorder } from './key-events.ts';
import { type Pcscd, startPcscd } from './pcscd.ts';

/** The driver of the present test. */
interface DriverTests {
  driver: Driver;
  recorded: Recorder;
}

async function startDriver(tests: Partial<DriverTests>, driver: Driver): Promise<void> {
  tests.driver = driver;
  tests.recorded = recorder(driver);
  await driver.start(tests.recorded.listener);
}

/** Each test has its own system, and leaves no handle open. */
export function hidTests(): Readonly<DriverTests & { system: FakeHid }> {
  const tests: Partial<DriverTests & { system: FakeHid }> = {};
  beforeEach(() => {
    tests.system = new FakeHid();
    return startDriver(tests, createHidDriver({ system: tests.system }));
  });
  afterEach(async () => {
    await tests.driver!.stop();
    expect(tests.system!.handles).toBe(0);
  });
  return tests as Required<typeof tests>;
}

/** All tests have one service, with a reader of this name. */
export function pcscTests(reader: string): Readonly<DriverTests & { pcscd: Pcscd }> {
  const tests: Partial<DriverTests & { pcscd: Pcscd }> = {};
  beforeAll(async () => {
    tests.pcscd = await startPcscd({ reader });
  });
  afterAll(() => tests.pcscd?.stop());
  beforeEach(() => startDriver(tests, createPcscDriver()));
  afterEach(async () => {
    await tests.pcscd!.removeAll();
    await tests.driver!.stop();
  });
  return tests as Required<typeof tests>;
}
