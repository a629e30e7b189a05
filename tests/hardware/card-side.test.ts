/** A USB key that tells its serial on its smart card side alone: HID driver and the real PC/SC service together. */
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
  let told: Recorder;
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
    const hid = createHidDriver({ system: usb, cardSide: pcsc.keyCards });
    drivers = [hid, pcsc];
    told = recorder(hid);
    cards = recorder(pcsc);
    await pcsc.start(cards.listener);
    await hid.start(told.listener);
  });
  afterEach(async () => {
    await pcscd.removeAll();
    await Promise.all(drivers.map(driver => driver.stop()));
  });

  it('is one key, with the serial of its applet', async () => {
    await pcscd.insert(token2Card({ serial: '8673412345' }));
    usb.plug({ ids: TOKEN2, smartCard: true });
    const key = await told.next('attached');
    expect(key).toMatchObject({ serialNumber: '8673412345', serialSource: 'token2', transport: 'HID', problem: null });
    expect(new Set(traffic.map(line => `${line.driver} ${line.keyId}`))).toEqual(new Set([`pcsc ${key.keyId}`]));
    expect(cards.kinds()).toEqual([]);
  });

  it('is waited for until its smart card side appears, though its descriptor has another serial', async () => {
    usb.plug({ ids: TOKEN2, smartCard: true, serial: 'DESCRIPTOR-1' });
    await pcscd.insert(token2Card({ serial: '8673412345' }));
    expect(await told.next('attached')).toMatchObject({ serialNumber: '8673412345', serialSource: 'token2' });
    expect(told.kinds()).toEqual(['attached']);
  });

  it('that has no smart card side is told at once by its descriptor', async () => {
    await pcscd.insert(token2Card({ serial: '8673412345' }));
    usb.plug({ ids: TOKEN2, smartCard: false, serial: 'DESCRIPTOR-1' });
    expect(await told.next('attached')).toMatchObject({ serialNumber: 'DESCRIPTOR-1', serialSource: 'usb-descriptor' });
    expect(traffic).toEqual([]);
  });

  it('whose smart card side comes after it was given up on is read then', { timeout: 20_000 }, async () => {
    usb.plug({ ids: TOKEN2, smartCard: true });
    const key = await told.next('attached');
    expect(key.serialNumber).toBeNull();
    expect(key.problem).toMatch(/smart card side has not appeared/);
    await pcscd.insert(token2Card({ serial: '8673412345' }));
    expect(await told.next('changed')).toMatchObject({ keyId: key.keyId, serialNumber: '8673412345', problem: null });
  });

  it('while the PC/SC service is away is told as what it is, and read when the service is back', async () => {
    await pcscd.halt();
    await cards.state('unavailable');
    usb.plug({ ids: TOKEN2, smartCard: true });
    const key = await told.next('attached');
    expect(key.problem).toMatch(/without the key's smart card side: pcscd.*not running/);
    await pcscd.start();
    await pcscd.insert(token2Card({ serial: '8673412345' }));
    expect(await told.next('changed')).toMatchObject({ keyId: key.keyId, serialNumber: '8673412345' });
  });

  it.skipIf(noBus)('that can be read at last is enrolled, and was plugged in once', { timeout: 60_000 }, async () => {
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
      // No key is left that failed.
      expect((await enrolling.ended).code).toBe(0);
    } finally {
      await daemon.stop();
      await bus.dispose();
      await rm(home, { recursive: true, force: true });
    }
  });

  it.skipIf(noBus)('is read so by the program', async () => {
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
