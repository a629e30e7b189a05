/** A USB key that reports its serial only over its smart card interface: HID driver and the real PC/SC service together. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Driver, TrafficLine } from '../../drivers/driver.ts';
import { createHidDriver } from '../../drivers/hid/index.ts';
import { createPcscDriver } from '../../drivers/pcsc/index.ts';
import { FakeHid } from '../support/fake-hid.ts';
import { type Recorder, recorder } from '../support/key-events.ts';
import { findTool } from '../support/needs.ts';
import { type Pcscd, startPcscd, withPcscd } from '../support/pcscd.ts';
import { runProgram, startDaemonProgram, startProgram } from '../support/program.ts';
import { UsbBus } from '../support/umockdev.ts';
import { token2Card } from '../support/vcard.ts';

const TOKEN2 = '349e:0026';
const noBus = findTool('umockdev-run') === null && !process.env.CI;

withPcscd('a Token2 key', () => {
  let pcscd: Pcscd;
  let usb: FakeHid;
  let drivers: Driver[];
  let recorded: Recorder;
  let cards: Recorder;
  let traffic: TrafficLine[];

  beforeAll(async () => {
    pcscd = await startPcscd({ reader: 'Token2 FIDO2 Security Key' });
  });
  afterAll(() => pcscd.stop());
  beforeEach(async () => {
    traffic = [];
    usb = new FakeHid();
    const pcsc = createPcscDriver({ traffic: line => traffic.push(line) });
    const hid = createHidDriver({ system: usb, keyCards: pcsc.keyCards });
    drivers = [hid, pcsc];
    recorded = recorder(hid);
    cards = recorder(pcsc);
    await pcsc.start(cards.listener);
    await hid.start(recorded.listener);
  });
  afterEach(async () => {
    await pcscd.removeAll();
    await Promise.all(drivers.map(driver => driver.stop()));
  });

  it('is one key, with the serial of its application', async () => {
    await pcscd.insert(token2Card({ serial: '8673412345' }));
    usb.plug({ ids: TOKEN2, hasSmartCard: true });
    const key = await recorded.next('attached');
    expect(key).toMatchObject({ serialNumber: '8673412345', serialSource: 'token2', transport: 'HID', problem: null });
    expect(new Set(traffic.map(line => `${line.driver} ${line.keyId}`))).toEqual(new Set([`pcsc ${key.keyId}`]));
    expect(cards.kinds()).toEqual([]);
  });

  it('is reported after its smart card interface has appeared, although its descriptor has another serial', async () => {
    usb.plug({ ids: TOKEN2, hasSmartCard: true, serial: 'DESCRIPTOR-1' });
    await pcscd.insert(token2Card({ serial: '8673412345' }));
    expect(await recorded.next('attached')).toMatchObject({ serialNumber: '8673412345', serialSource: 'token2' });
    expect(recorded.kinds()).toEqual(['attached']);
  });

  it('without a smart card interface is reported at once with the serial of its descriptor', async () => {
    await pcscd.insert(token2Card({ serial: '8673412345' }));
    usb.plug({ ids: TOKEN2, hasSmartCard: false, serial: 'DESCRIPTOR-1' });
    expect(await recorded.next('attached')).toMatchObject({
      serialNumber: 'DESCRIPTOR-1',
      serialSource: 'usb-descriptor',
    });
    expect(traffic).toEqual([]);
  });

  it('is read when its smart card interface appears after the driver gave up on it', { timeout: 20_000 }, async () => {
    usb.plug({ ids: TOKEN2, hasSmartCard: true });
    const key = await recorded.next('attached');
    expect(key.serialNumber).toBeNull();
    expect(key.problem).toMatch(/smart card interface has not appeared/);
    await pcscd.insert(token2Card({ serial: '8673412345' }));
    expect(await recorded.next('changed')).toMatchObject({
      keyId: key.keyId,
      serialNumber: '8673412345',
      problem: null,
    });
  });

  it('is reported without a serial while the PC/SC service is missing, and read when the service is back', async () => {
    await pcscd.halt();
    await cards.state('unavailable');
    usb.plug({ ids: TOKEN2, hasSmartCard: true });
    const key = await recorded.next('attached');
    expect(key.problem).toMatch(/without the key's smart card interface: pcscd.*not running/);
    await pcscd.start();
    await pcscd.insert(token2Card({ serial: '8673412345' }));
    expect(await recorded.next('changed')).toMatchObject({ keyId: key.keyId, serialNumber: '8673412345' });
  });

  it.skipIf(noBus)('is enrolled when it becomes readable, as one plugging', { timeout: 60_000 }, async () => {
    const home = await mkdtemp(join(tmpdir(), 'devmgr-token2-'));
    const bus = await UsbBus.create();
    const daemon = await startDaemonProgram({ home, env: bus.env });
    try {
      await bus.plug({ serial: null, vendorId: '349e', productId: '0026', manufacturer: 'Token2' });
      const enrolling = startProgram(['enroll', '--timeout', '12', '--json'], { home });
      const first = JSON.parse((await enrolling.lines.next()).value);
      expect(first).toMatchObject({ result: 'failed', serialNumber: null });
      await pcscd.insert(token2Card({ serial: '8673412345' }));
      const second = JSON.parse((await enrolling.lines.next()).value);
      expect(second).toMatchObject({ result: 'registered', serialNumber: '8673412345' });
      // No key has failed in the end.
      expect((await enrolling.ended).code).toBe(0);
    } finally {
      await daemon.stop();
      await bus.dispose();
      await rm(home, { recursive: true, force: true });
    }
  });

  it.skipIf(noBus)('is enrolled by the program', async () => {
    const home = await mkdtemp(join(tmpdir(), 'devmgr-token2-'));
    const bus = await UsbBus.create();
    const daemon = await startDaemonProgram({ home, env: bus.env });
    try {
      await pcscd.insert(token2Card({ serial: '8673412345' }));
      await bus.plug({ serial: null, vendorId: '349e', productId: '0026', manufacturer: 'Token2' });
      const { stdout } = await runProgram(['enroll', '--count', '1', '--timeout', '30', '--json'], { home });
      expect(JSON.parse(stdout)).toMatchObject({
        result: 'registered',
        serialNumber: '8673412345',
        serialSource: 'token2',
        manufacturer: 'Token2',
      });
    } finally {
      await daemon.stop();
      await bus.dispose();
      await rm(home, { recursive: true, force: true });
    }
  });
});
