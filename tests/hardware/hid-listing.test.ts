import type { Device } from 'node-hid';
import { beforeEach, describe, expect, test } from 'vitest';
import { LinuxListing, PlainListing } from '../../drivers/hid/listing.ts';
import type { HidrawNode, NodeOwner } from '../../drivers/hid/sysfs.ts';

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
const owner = (address: number, serial: string | null = null): NodeOwner => ({
  unit: `usb:1:${address}`,
  usb: { place: { bus: 1, address }, smartCard: null, serial, manufacturer: null, product: null },
});

describe('on Linux', () => {
  let nodes: HidrawNode[];
  let owners: Record<string, NodeOwner>;
  let devices: Device[];
  let asked: string[];
  let listing: LinuxListing;
  beforeEach(() => {
    nodes = [];
    owners = {};
    devices = [];
    asked = [];
    listing = new LinuxListing(
      async (vendorId, productId) => {
        asked.push(vendorId === undefined ? 'all' : `${vendorId.toString(16)}:${productId?.toString(16)}`);
        return devices;
      },
      { hidrawNodes: () => nodes, ownerOf: async node => owners[node.instance] ?? null },
    );
  });
  const appear = (number: number, instance: string, address: number, serial = ''): void => {
    nodes = [...nodes, { name: `hidraw${number}`, instance }];
    owners[instance] = owner(address, serial || null);
    devices = [...devices.filter(each => each.path !== `/dev/hidraw${number}`), device(`/dev/hidraw${number}`, serial)];
  };

  test('node-hid is asked about new devices alone, once', async () => {
    await listing.list();
    appear(0, '0003:1050:0407.0001', 5);
    await listing.list();
    await listing.list();
    appear(1, '0003:1050:0407.0002', 6);
    expect((await listing.list()).map(each => each.unit)).toEqual(['usb:1:5', 'usb:1:6']);
    expect(asked).toEqual(['all', '1050:407', '1050:407']);
  });

  test('a node that node-hid does not list yet is asked about again', async () => {
    appear(0, '0003:1050:0407.0001', 5);
    const made = devices;
    devices = [];
    expect(await listing.list()).toEqual([]);
    devices = made;
    expect(await listing.list()).toHaveLength(1);
  });

  test('a node number that is used again is another device', async () => {
    appear(0, '0003:1050:0407.0001', 5, 'A1');
    await listing.list();
    nodes = [];
    appear(0, '0003:1050:0407.0002', 6, 'A2');
    expect(await listing.list()).toMatchObject([{ unit: 'usb:1:6', serial: 'A2' }]);
  });

  test.each([
    ['ids', device('/dev/hidraw0', '', [0x096e, 0x0850])],
    ['serial', device('/dev/hidraw0', 'OTHER')],
  ])('what node-hid lists under a number is not believed when its %s is of another device', async (_what, listed) => {
    appear(0, '0003:1050:0407.0001', 5, 'A1');
    devices = [listed];
    expect(await listing.list()).toEqual([]);
  });
});

test('where the system tells no place, one serial is one key, and an interface without a serial is a key', async () => {
  const listing = new PlainListing(async () => [device('a', 'A1'), device('b', 'A1'), device('c'), device('d')]);
  const units = (await listing.list()).map(each => each.unit);
  expect(units[0]).toBe(units[1]);
  expect(new Set(units).size).toBe(3);
});
