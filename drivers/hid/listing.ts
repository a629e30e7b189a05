/** What HID interfaces there are: on Linux from /sys, elsewhere from node-hid's enumeration. */
import type { Device } from 'node-hid';
import { type HidrawNode, hidrawNodes, interfacesOf } from './sysfs.ts';
import type { HidInterface } from './system.ts';

/** node-hid's enumeration. */
export type Enumerate = () => Promise<readonly Device[]>;

/** What is read of /sys; tests give their own. */
export interface Sysfs {
  hidrawNodes(): HidrawNode[];
  interfacesOf(node: HidrawNode): Promise<HidInterface[] | null>;
}

export interface Listing {
  list(): Promise<readonly HidInterface[]>;
}

/**
 * Reads of new nodes alone: most looks find nothing new. node-hid would go through all devices for each, by way of libudev,
 * and says less: it cuts texts at 63 bytes, drops those with letters beyond ASCII, and knows no place on the bus.
 */
export class LinuxListing implements Listing {
  readonly #check: () => Promise<unknown>;
  readonly #sysfs: Sysfs;
  #known = new Map<string, readonly HidInterface[]>();
  #loaded = false;

  /** `check` rejects where keys could be listed but not opened, for want of a library. */
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
      // Holds the node's place in the order while it is read.
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

/** Systems that tell no place on the bus: interfaces with one serial are one key, one without a serial is a key by itself. */
export class PlainListing implements Listing {
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

function interfaceOf(device: Device, unit: string): HidInterface {
  return {
    path: device.path ?? '',
    unit,
    place: null,
    smartCard: null,
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
