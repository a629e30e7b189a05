/** Linux: the hidraw nodes there are, and which physical device each belongs to, read from /sys without opening anything. */
import { type Dir, opendirSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { UsbPlace } from '../usb/place.ts';
import { interfaceClassesIn, SMART_CARD_CLASS } from '../usb/sysfs.ts';

const HIDRAW = '/sys/class/hidraw';

export interface HidrawNode {
  /** `hidrawN`; the number is used again as soon as it is free. */
  readonly name: string;
  /** The kernel's name of the HID device, `0003:1050:0407.000A`: its last part counts up and comes only once. */
  readonly instance: string;
}

export interface NodeOwner {
  /** Names one plugging: USB bus and device number, or the HID device itself where there is no USB. */
  readonly unit: string;
  /** Null where the device hangs on no USB bus. */
  readonly usb: {
    readonly place: UsbPlace;
    /** Null where it is not told. */
    readonly smartCard: boolean | null;
    readonly serial: string | null;
    readonly manufacturer: string | null;
    readonly product: string | null;
  } | null;
}

/**
 * All nodes, in the order in which their devices appeared. Read at once, in less time than handing it to a thread takes:
 * the kernel answers for folders and links out of its memory, while for an attribute it may wait for the device.
 */
export function hidrawNodes(): HidrawNode[] {
  const nodes = nodeNames().flatMap(name => {
    const instance = instanceOf(name);
    return instance === null ? [] : [{ name, instance }];
  });
  const order = ({ instance }: HidrawNode): number =>
    Number.parseInt(instance.slice(instance.lastIndexOf('.') + 1), 16);
  return nodes.sort((a, b) => order(a) - order(b));
}

function nodeNames(): string[] {
  let folder: Dir | null = null;
  const names: string[] = [];
  try {
    folder = opendirSync(HIDRAW);
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) names.push(entry.name);
  } catch {
    // A kernel that has seen no HID device yet has no such folder.
  } finally {
    folder?.closeSync();
  }
  return names;
}

/** The HID device a node stands for now; null where the node is gone. */
function instanceOf(name: string): string | null {
  try {
    const link = readlinkSync(`${HIDRAW}/${name}/device`);
    return link.slice(link.lastIndexOf('/') + 1);
  } catch {
    return null;
  }
}

/** Null where the node has gone meanwhile, or belongs to another device by now. */
export async function ownerOf(node: HidrawNode): Promise<NodeOwner | null> {
  // The kernel resolves the dots after the links: the HID device's parent is the interface, above it stands the device.
  const folder = `${HIDRAW}/${node.name}/device/../..`;
  const read = async (attribute: string): Promise<string | null> => {
    try {
      return (await readFile(`${folder}/${attribute}`, 'utf8')).replace(/\n$/, '');
    } catch {
      return null;
    }
  };
  const classes = interfaceClassesIn(folder);
  const [bus, address, serial, manufacturer, product] = await Promise.all(
    ['busnum', 'devnum', 'serial', 'manufacturer', 'product'].map(read),
  );
  const smartCard = (await classes)?.has(SMART_CARD_CLASS) ?? null;
  if (instanceOf(node.name) !== node.instance) return null;
  if (!bus || !address) return { unit: `hid:${node.instance}`, usb: null };
  return {
    unit: `usb:${bus}:${address}`,
    usb: {
      place: { bus: Number(bus), address: Number(address) },
      smartCard,
      serial: serial ?? null,
      manufacturer: manufacturer ?? null,
      product: product ?? null,
    },
  };
}
