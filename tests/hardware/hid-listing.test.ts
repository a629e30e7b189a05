import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import fc from 'fast-check';
import type { Device } from 'node-hid';
import { beforeEach, describe, expect, test } from 'vitest';
import { nodeHidListing, sysfsListing } from '../../drivers/hid/listing.ts';
import { topLevelUsages } from '../../drivers/hid/report-descriptor.ts';
import type { HidrawNode } from '../../drivers/hid/sysfs.ts';
import type { HidInterface } from '../../drivers/hid/system.ts';

const device = (path: string, serialNumber = '', ids: [number, number] = [0x1050, 0x0407]): Device => ({
  vendorId: ids[0],
  productId: ids[1],
  path,
  serialNumber,
  release: 0,
  interface: 0,
  usagePage: 0xf1d0,
  usage: 1,
});

const at = (node: HidrawNode, address: number): HidInterface => ({
  path: `/dev/${node.name}`,
  deviceId: `usb:1:${address}`,
  location: { bus: 1, address },
  hasSmartCard: null,
  vendorId: '1050',
  productId: '0407',
  usagePage: 0xf1d0,
  usage: 1,
  serial: null,
  manufacturer: null,
  product: null,
  release: 0,
});

describe('on Linux', () => {
  let nodes: HidrawNode[];
  let complete: Map<string, HidInterface[]>;
  let read: string[];
  let checks: number;
  let list: ReturnType<typeof sysfsListing>;
  beforeEach(() => {
    nodes = [];
    complete = new Map();
    read = [];
    checks = 0;
    list = sysfsListing(async () => void checks++, {
      hidrawNodes: () => nodes,
      async interfacesOf(node) {
        read.push(node.instance);
        return complete.get(node.instance) ?? null;
      },
    });
  });
  const appear = (number: number, instance: string, address: number): void => {
    const node = { name: `hidraw${number}`, instance };
    nodes = [...nodes, node];
    complete.set(instance, [at(node, address)]);
  };
  const deviceIds = async () => (await list()).map(each => each.deviceId);

  test('only new devices are read, once, and the order is kept', async () => {
    await list();
    appear(0, '0003:1050:0407.0001', 5);
    await list();
    await list();
    appear(1, '0003:1050:0407.0002', 6);
    expect(await deviceIds()).toEqual(['usb:1:5', 'usb:1:6']);
    expect(read).toEqual(['0003:1050:0407.0001', '0003:1050:0407.0002']);
    expect(checks).toBe(1);
  });

  test('a node that is not complete yet is read again', async () => {
    appear(0, '0003:1050:0407.0001', 5);
    const interfaces = complete.get('0003:1050:0407.0001')!;
    complete.clear();
    expect(await deviceIds()).toEqual([]);
    complete.set('0003:1050:0407.0001', interfaces);
    expect(await deviceIds()).toEqual(['usb:1:5']);
  });

  test('a reused node number is another device', async () => {
    appear(0, '0003:1050:0407.0001', 5);
    await list();
    nodes = [];
    appear(0, '0003:1050:0407.0002', 6);
    expect(await deviceIds()).toEqual(['usb:1:6']);
  });

  test('a process that may not open more files reports no key as unplugged', async () => {
    const program = `
      const { openSync } = await import('node:fs');
      const { sysfsListing } = await import(${JSON.stringify(import.meta.resolve('../../drivers/hid/listing.ts'))});
      const list = sysfsListing(async () => undefined);
      const look = () => list().then(() => 'listed', error => error.code);
      const before = await look();
      try {
        for (;;) openSync('/dev/null');
      } catch {}
      console.log(before, await look());`;
    const limited = 'ulimit -n 64; exec "$0" --input-type=module -e "$1"';
    const { stdout } = await promisify(execFile)('sh', ['-c', limited, process.execPath, program]);
    expect(stdout).toBe('listed unavailable\n');
  });
});

describe('a report descriptor', () => {
  const usages = (hex: string) =>
    topLevelUsages(new Uint8Array(Buffer.from(hex.replaceAll(' ', ''), 'hex'))).map(
      ({ usagePage, usage }) => `${usagePage.toString(16)}:${usage}`,
    );
  const FIDO = '06d0f1 0901 a101 0920 1500 26ff00 7508 9540 8102 0921 1500 26ff00 7508 9540 9102 c0';

  test.each([
    ['the FIDO page', FIDO, ['f1d0:1']],
    ['collections within', '0501 0902 a101 0901 a100 0509 1901 8102 c0 c0', ['1:2']],
    ['two collections', `${FIDO} 0600ff 0907 a101 c0`, ['f1d0:1', 'ff00:7']],
    ['a usage that contains its page', '0501 0b0100d0f1 a101 c0', ['f1d0:1']],
    ['a page that is popped', '0501 a4 06d0f1 b4 0906 a101 c0', ['1:6']],
    ['a long item', 'fe02aa0000 0501 0906 a101 c0', ['1:6']],
    ['a collection without usage', '0501 a101 c0', ['1:0']],
    ['an item that is cut off', '0501 0906 a101 c0 0600', ['1:6']],
  ])('with %s has these usages', (_what, hex, expected) => {
    expect(usages(hex)).toEqual(expected);
  });

  test('of any bytes is parsed without an error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), bytes => topLevelUsages(bytes).length <= bytes.length),
      { numRuns: 100_000 },
    );
  });
});

test('without USB locations, one serial is one key, and an interface without a serial is a key', async () => {
  const list = nodeHidListing(async () => [device('a', 'A1'), device('b', 'A1'), device('c'), device('d')]);
  const deviceIds = (await list()).map(each => each.deviceId);
  expect(deviceIds[0]).toBe(deviceIds[1]);
  expect(new Set(deviceIds).size).toBe(3);
});
