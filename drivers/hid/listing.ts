/** What HID interfaces there are: node-hid's enumeration, joined on Linux with each one's place on the bus. */
import type { Device } from 'node-hid';
import { type HidrawNode, hidrawNodes, type NodeOwner, ownerOf } from './sysfs.ts';
import type { HidInterface } from './system.ts';

/** node-hid's enumeration, of everything or of one vendor's product alone. */
export type Enumerate = (vendorId?: number, productId?: number) => Promise<readonly Device[]>;

/** What is read of /sys; tests give their own. */
export interface Sysfs {
  hidrawNodes(): HidrawNode[];
  ownerOf(node: HidrawNode): Promise<NodeOwner | null>;
}

export interface Listing {
  list(): Promise<readonly HidInterface[]>;
}

/**
 * Asks node-hid about the nodes that are new alone: enumerating takes it about as long for each device again, and most
 * looks find nothing new.
 */
export class LinuxListing implements Listing {
  readonly #enumerate: Enumerate;
  readonly #sysfs: Sysfs;
  #known = new Map<string, readonly HidInterface[]>();
  #loaded = false;

  constructor(enumerate: Enumerate, sysfs: Sysfs = { hidrawNodes, ownerOf }) {
    this.#enumerate = enumerate;
    this.#sysfs = sysfs;
  }

  async list(): Promise<readonly HidInterface[]> {
    // Without this a missing library would not show before the first key is plugged in.
    if (!this.#loaded) await this.#enumerate();
    this.#loaded = true;
    const nodes = this.#sysfs.hidrawNodes();
    const nameOf = (node: HidrawNode): string => `${node.name} ${node.instance}`;
    const fresh = nodes.filter(node => !this.#known.has(nameOf(node)));
    const found = fresh.length === 0 ? new Map<HidrawNode, HidInterface[]>() : await this.#read(fresh);
    const known = new Map<string, readonly HidInterface[]>();
    for (const node of nodes) {
      const interfaces = this.#known.get(nameOf(node)) ?? found.get(node) ?? [];
      // A node that node-hid says nothing of is asked about again: it may have been half made.
      if (interfaces.length > 0) known.set(nameOf(node), interfaces);
    }
    this.#known = known;
    return [...known.values()].flat();
  }

  async #read(fresh: readonly HidrawNode[]): Promise<Map<HidrawNode, HidInterface[]>> {
    const [devices, owners] = await Promise.all([this.#devices(fresh), Promise.all(fresh.map(this.#sysfs.ownerOf))]);
    const found = new Map<HidrawNode, HidInterface[]>();
    fresh.forEach((node, i) => {
      const owner = owners[i];
      if (owner === null || owner === undefined) return;
      const own = devices.filter(device => device.path === `/dev/${node.name}` && belongs(device, node, owner));
      found.set(
        node,
        own.map(device => withOwner(device, owner)),
      );
    });
    return found;
  }

  async #devices(fresh: readonly HidrawNode[]): Promise<Device[]> {
    const ids = new Set(fresh.map(node => idsOf(node.instance)));
    if (ids.has(null)) return [...(await this.#enumerate())];
    const lists: (readonly Device[])[] = [];
    for (const pair of ids) {
      const [vendorId, productId] = pair!.split(':').map(id => Number.parseInt(id, 16));
      lists.push(await this.#enumerate(vendorId, productId));
    }
    return lists.flat();
  }
}

/** `1050:0407` out of `0003:1050:0407.000A`; zeros would mean any device, so they count as unknown. */
function idsOf(instance: string): string | null {
  const ids = /^[0-9A-F]{4}:([0-9A-F]{4}):([0-9A-F]{4})\./i.exec(instance);
  return ids === null || ids[1] === '0000' || ids[2] === '0000' ? null : `${ids[1]}:${ids[2]}`.toLowerCase();
}

/** Node numbers are used again at once: what node-hid listed under one may have been another device. */
function belongs(device: Device, node: HidrawNode, owner: NodeOwner): boolean {
  const ids = idsOf(node.instance);
  if (ids !== null && ids !== `${hex(device.vendorId)}:${hex(device.productId)}`) return false;
  const listed = text(device.serialNumber);
  return listed === null || !owner.usb?.serial || owner.usb.serial.startsWith(listed);
}

/** The descriptors' texts from /sys: node-hid cuts them at 63 bytes and drops those with letters beyond ASCII. */
function withOwner(device: Device, owner: NodeOwner): HidInterface {
  const base = interfaceOf(device, owner.unit);
  if (owner.usb === null) return base;
  return {
    ...base,
    place: owner.usb.place,
    smartCard: owner.usb.smartCard,
    serial: owner.usb.serial ?? base.serial,
    manufacturer: owner.usb.manufacturer ?? base.manufacturer,
    product: owner.usb.product ?? base.product,
  };
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
