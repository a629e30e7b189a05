/** Linux: which physical device a hidraw node belongs to, read from /sys without opening the device. */
import { readFile, readlink } from 'node:fs/promises';
import type { UsbPlace } from './system.ts';

export interface NodeOwner {
  /** Names one plugging: USB bus and device number, or the kernel's count of HID devices where there is no USB. */
  readonly unit: string;
  /** Null where the device hangs on no USB bus. */
  readonly usb: {
    readonly place: UsbPlace;
    readonly vendorId: string;
    readonly productId: string;
    readonly serial: string | null;
    readonly manufacturer: string | null;
    readonly product: string | null;
  } | null;
}

/**
 * Finds the owners of hidraw nodes. The kernel counts HID devices up and uses no number twice, so what was read for
 * one is kept until it is no longer asked for.
 */
export class Topology {
  #known = new Map<string, NodeOwner>();
  #asked = new Map<string, NodeOwner>();

  /** Null where the node is gone by now. `path` as node-hid gives it, `/dev/hidrawN`. */
  async find(path: string): Promise<NodeOwner | null> {
    const node = `/sys/class/hidraw/${path.slice(path.lastIndexOf('/') + 1)}/device`;
    try {
      const link = await readlink(node);
      const name = link.slice(link.lastIndexOf('/') + 1);
      const owner = this.#known.get(name) ?? (await readOwner(node, name));
      this.#asked.set(name, owner);
      return owner;
    } catch {
      return null;
    }
  }

  /** To be called when all nodes of a listing have been looked up: forgets the others. */
  endOfListing(): void {
    this.#known = this.#asked;
    this.#asked = new Map();
  }
}

async function readOwner(node: string, name: string): Promise<NodeOwner> {
  // The kernel resolves the dots after the links: the HID device's parent is the interface, above it stands the device.
  const read = async (attribute: string): Promise<string | null> => {
    try {
      return (await readFile(`${node}/../../${attribute}`, 'utf8')).replace(/\n$/, '');
    } catch {
      return null;
    }
  };
  const [bus, address] = await Promise.all([read('busnum'), read('devnum')]);
  if (bus === null || address === null) return { unit: `hid:${name}`, usb: null };
  const [vendorId, productId] = await Promise.all([read('idVendor'), read('idProduct')]);
  const [serial, manufacturer, product] = await Promise.all([read('serial'), read('manufacturer'), read('product')]);
  return {
    unit: `usb:${bus}:${address}`,
    usb: {
      place: { bus: Number(bus), address: Number(address) },
      vendorId: vendorId ?? '',
      productId: productId ?? '',
      serial,
      manufacturer,
      product,
    },
  };
}
