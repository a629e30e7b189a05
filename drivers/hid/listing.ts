/** Lists the HID interfaces: on Linux from /sys, elsewhere with node-hid's enumeration. */
import type { Device } from 'node-hid';
import { type HidrawNode, hidrawNodes, interfacesOf } from './sysfs.ts';
import type { HidInterface, HidSystem } from './system.ts';

/** node-hid's enumeration. */
export type Enumerate = () => Promise<readonly Device[]>;

/** Content of /sys. Replaced by tests. */
interface Sysfs {
  hidrawNodes(): HidrawNode[];
  interfacesOf(node: HidrawNode): Promise<HidInterface[] | null>;
}

/**
 * Reads only new nodes, because most scans find nothing new. node-hid would go through all devices on each scan, by way of
 * libudev, and reports less: it cuts texts at 63 bytes, drops those with letters beyond ASCII, and has no USB location.
 * `check` rejects if keys could be listed but not opened because a library is missing.
 */
export function sysfsListing(
  check: () => Promise<unknown>,
  sysfs: Sysfs = { hidrawNodes, interfacesOf },
): HidSystem['list'] {
  let known = new Map<string, readonly HidInterface[]>();
  let isChecked = false;
  return async () => {
    if (!isChecked) await check();
    isChecked = true;
    const present = new Map<string, readonly HidInterface[]>();
    const read = async (node: HidrawNode): Promise<void> => {
      const name = `${node.name} ${node.instance}`;
      // Keeps the node's position in the order while it is read.
      present.set(name, []);
      const interfaces = known.get(name) ?? (await sysfs.interfacesOf(node));
      if (interfaces === null) present.delete(name);
      else present.set(name, interfaces);
    };
    await Promise.all(sysfs.hidrawNodes().map(read));
    known = present;
    return [...known.values()].flat();
  };
}

/**
 * For systems that report no USB location: interfaces with the same ids and serial are one key, and an interface without a
 * serial is a key of its own.
 */
export const nodeHidListing =
  (enumerate: Enumerate): HidSystem['list'] =>
  async () =>
    (await enumerate()).map(device => {
      const serial = text(device.serialNumber);
      const ids = `${hex(device.vendorId)}:${hex(device.productId)}`;
      return interfaceOf(device, serial === null ? `path:${device.path}` : `serial:${ids}:${serial}`);
    });

function interfaceOf(device: Device, deviceId: string): HidInterface {
  return {
    path: device.path ?? '',
    deviceId,
    location: null,
    hasSmartCard: null,
    vendorId: hex(device.vendorId),
    productId: hex(device.productId),
    usagePage: device.usagePage ?? 0,
    usage: device.usage ?? 0,
    serial: text(device.serialNumber),
    manufacturer: text(device.manufacturer),
    product: text(device.product),
    release: device.release,
  };
}

const hex = (id: number): string => id.toString(16).padStart(4, '0');
const text = (s: string | null | undefined): string | null => (s === undefined || s === '' ? null : s);
