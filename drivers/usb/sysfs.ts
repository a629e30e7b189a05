/** Linux: what /sys says of a USB device, without opening it. */
import { readdir, readFile } from 'node:fs/promises';
import type { UsbPlace } from './place.ts';

const DEVICES = '/sys/bus/usb/devices';

/** Classes of USB interfaces. */
export const HID_CLASS = 0x03;
export const SMART_CARD_CLASS = 0x0b;

const INTERFACE_DESCRIPTOR = 4;
/** Where an interface descriptor holds its class. */
const CLASS_AT = 5;

export interface UsbDevice {
  /** Four lower-case hex digits. */
  readonly vendorId: string;
  readonly productId: string;
  /** Texts of the descriptors, uncleaned; null where the device has none. */
  readonly serial: string | null;
  readonly manufacturer: string | null;
  readonly product: string | null;
  readonly classes: ReadonlySet<number>;
}

/** The device that hangs there now; null where none does, or where there is no /sys. */
export async function usbDeviceAt({ bus, address }: UsbPlace): Promise<UsbDevice | null> {
  const names = await readdir(DEVICES).catch(() => []);
  // Interfaces stand in the same folder, with a colon in their name.
  for (const name of names.filter(one => !one.includes(':'))) {
    const folder = `${DEVICES}/${name}`;
    if ((await attribute(folder, 'devnum')) !== String(address)) continue;
    if ((await attribute(folder, 'busnum')) !== String(bus)) continue;
    const classes = await interfaceClassesIn(folder);
    const [vendorId, productId, serial, manufacturer, product] = await Promise.all([
      attribute(folder, 'idVendor'),
      attribute(folder, 'idProduct'),
      attribute(folder, 'serial'),
      attribute(folder, 'manufacturer'),
      attribute(folder, 'product'),
    ]);
    if (!vendorId || !productId || classes === null) return null;
    return { vendorId, productId, serial, manufacturer, product, classes };
  }
  return null;
}

/** The classes of a device's interfaces, from its folder in /sys; null where they are not told. */
export async function interfaceClassesIn(folder: string): Promise<ReadonlySet<number> | null> {
  try {
    return interfaceClasses(await readFile(`${folder}/descriptors`));
  } catch {
    return null;
  }
}

/** The classes of all interfaces in a chain of descriptors; what follows a descriptor that is cut short is left out. */
export function interfaceClasses(descriptors: Uint8Array): ReadonlySet<number> {
  const classes = new Set<number>();
  for (let at = 0; at + 1 < descriptors.length; ) {
    const length = descriptors[at]!;
    if (length < 2 || at + length > descriptors.length) break;
    if (descriptors[at + 1] === INTERFACE_DESCRIPTOR && length > CLASS_AT) classes.add(descriptors[at + CLASS_AT]!);
    at += length;
  }
  return classes;
}

async function attribute(folder: string, name: string): Promise<string | null> {
  try {
    return (await readFile(`${folder}/${name}`, 'utf8')).replace(/\n$/, '');
  } catch {
    return null;
  }
}
