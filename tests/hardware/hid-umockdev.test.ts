/** The driver through the real node-hid and libudev, on USB devices that umockdev makes them see. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HidProcess } from '../support/hid-process.ts';
import { needs } from '../support/needs.ts';
import { UsbBus, umockdev } from '../support/umockdev.ts';

needs('umockdev-run', 'umockdev')('keys that are attached from the start', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hid-test-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  test('are listed with the data of their descriptors', async () => {
    const hid = new HidProcess(await umockdev(folder, [{ serial: 'SN-0001', product: 'Bank key' }]));
    expect((await hid.next('started')).keys).toMatchObject([
      {
        deviceType: 'UKEY',
        serialNumber: 'SN-0001',
        serialSource: 'usb-descriptor',
        manufacturer: 'Lab',
        model: 'Bank key',
        hardwareVersion: '1.00',
        transport: 'HID',
        reader: null,
        vendorId: '096e',
        productId: '0850',
        simulated: false,
        problem: null,
      },
    ]);
    expect(await hid.end()).toBe(0);
  });

  test('have the serials that node-hid truncates, and a problem for those beyond ASCII', async () => {
    const long = 'L'.repeat(64);
    const keys = [{ serial: long }, { serial: 'SN-银行', product: '银行 UKey' }, { serial: '  SN-0003  ' }];
    const hid = new HidProcess(await umockdev(folder, keys));
    const listed = (await hid.next('started')).keys;
    expect(listed.map(key => key.serialNumber)).toEqual([long, null, 'SN-0003']);
    expect(listed[1]).toMatchObject({ model: '银行 UKey', problem: expect.stringContaining('characters other than') });
    await hid.end();
  });

  test('are distinguished from keyboards, mice and each other, and merged from their interfaces', async () => {
    const keys = [
      { serial: 'KB-1', vendorId: '046d', productId: 'c31c', interfaces: ['keyboard', 'mouse'] as const },
      { serial: 'A1', interfaces: ['keyboard', 'vendor', 'fido'] as const },
      { serial: 'A2', interfaces: ['keyboard', 'vendor', 'fido'] as const },
      { serial: null, vendorId: 'dead', productId: 'beef' },
      { serial: 'B1', vendorId: 'dead', productId: 'cafe', interfaces: ['vendor'] as const },
    ];
    const hid = new HidProcess(await umockdev(folder, keys), {}, ['dead:cafe']);
    expect((await hid.next('started')).keys.map(key => key.serialNumber)).toEqual(['A1', 'A2', null, 'B1']);
    await hid.end();
  });
});

needs('umockdev-run', 'umockdev')('keys that are plugged in and unplugged', () => {
  let bus: UsbBus;
  let hid: HidProcess;
  beforeEach(async () => {
    bus = await UsbBus.create();
    hid = new HidProcess([], bus.env);
    await hid.next('started');
  });
  afterEach(async () => {
    await hid.end();
    await bus.dispose();
  });

  test('are reported once for each plugging, and no resource is left after the stop', async () => {
    const first = await bus.plug({ serial: 'SN-0001', interfaces: ['keyboard', 'fido'] });
    const attached = await hid.next('attached');
    await bus.pull(first);
    expect((await hid.next('detached')).key).toEqual(attached.key);
    await bus.plug({ serial: 'SN-0001' });
    const again = await hid.next('attached');
    expect(again.key.serialNumber).toBe('SN-0001');
    expect(again.key.keyId).not.toBe(attached.key.keyId);
    expect(await hid.end()).toBe(0);
    const stopped = await hid.next('stopped');
    expect(stopped.keys).toEqual([]);
    expect(stopped.resources?.filter(name => !/Wrap$/.test(name))).toEqual([]);
    expect(hid.lines.filter(line => ['attached', 'changed', 'detached'].includes(line.kind))).toHaveLength(3);
  });

  test('are twenty keys if twenty are plugged in at once', async () => {
    const serials = Array.from({ length: 20 }, (_, i) => `SN-${1000 + i}`);
    const addresses: number[] = [];
    for (const serial of serials) addresses.push(await bus.plug({ serial }));
    const seen = [];
    for (const _ of serials) seen.push((await hid.next('attached')).key.serialNumber);
    expect(seen.sort()).toEqual(serials);
    for (const address of addresses) await bus.pull(address);
    for (const _ of serials) await hid.next('detached');
  });
});
