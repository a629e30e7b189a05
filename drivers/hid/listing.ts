/** Lists the HID interfaces: on Linux from /sys, elsewhere with node-hid's enumeration. */
import type { Device } from 'node-hid';
import { type HidrawNode, hidrawNodes, interfacesOf } from './sysfs.ts';
import type { HidInterface } from './system.ts';

/** node-hid's enumeration. */
export type Enumerate = () => Promise<readonly Device[]>;

/** What is read from /sys. Replaced by tests. */
interface Sysfs {
  hidrawNodes(): HidrawNode[];
  interfacesOf(node: HidrawNode): Promise<HidInterface[] | null>;
}

/** Lists the HID interfaces of a system. */
interface HidListing {
  /** Rejects only with HardwareError `unavailable`. */
  list(): Promise<readonly HidInterface[]>;
}

/**
 * Reads only new nodes, because most scans find nothing new. node-hid would go through all devices on each scan, by way of
 * libudev, and reports less: it cuts texts at 63 bytes, drops those with letters beyond ASCII, and has no USB location.
 */
export class SysfsListing implements HidListing {
  readonly #check: () => Promise<unknown>;
  readonly #sysfs: Sysfs;
  #known = new Map<string, readonly HidInterface[]>();
  #loaded = false;

  /** `check` rejects if keys could be listed but not opened because a library is missing. */
  constructor(check: () => Promise<unknown>, sysfs: Sysfs = { hidrawNodes, interfacesOf }) {
    this.#check = check;
    this.#sysfs = sysfs;
  }

  async list(): Promise<readonly HidInterface[]> {
    if (!this.#loaded) await this.#check();
    this.#loaded = true;
    const known = new Map<string, readonly HidInterface[]>();
    const read = async (node: HidrawNode): Promise<void> => {
      const name = `${node.name} ${node.instance}`;
      // Keeps the node's position in the order while it is read.
      known.set(name, []);
      const interfaces = this.#known.get(name) ?? (await this.#sysfs.interfacesOf(node));
      if (interfaces === null) known.delete(name);
      else known.set(name, interfaces);
    };
    await Promise.all(this.#sysfs.hidrawNodes().map(read));
    this.#known = known;
    return [...known.values()].flat();
  }
}

/**
 * For systems that report no USB location: interfaces with the same ids and serial are one key, and an interface without a
 * serial is a key of its own.
 */
export class NodeHidListing implements HidListing {
  readonly #enumerate: Enumerate;

  constructor(enumerate: Enumerate) {
    this.#enumerate = enumerate;
  }

  async list(): Promise<readonly HidInterface[]> {
    return (await this.#enumerate()).map(device => {
      const serial = text(device.serialNumber);
      const ids = `${hex(device.vendorId)}:${hex(device.productId)}`;
      return interfaceOf(device, serial === null ? `path:${device.path}` : `serial:${ids}:${serial}`);
    });
  }
}

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
