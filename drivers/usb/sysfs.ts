/** Linux: what /sys knows about a USB device, without opening the device. */
import { readdir, readFile } from 'node:fs/promises';

/** Where a USB device is attached, as lsusb counts. A device address is reused only after the bus has used all others. */
export interface UsbLocation {
  readonly bus: number;
  /** The device number. */
  readonly address: number;
}

const DEVICES = '/sys/bus/usb/devices';

/** USB interface class of HID devices. Source: USB-IF, defined class codes. */
export const HID_CLASS = 0x03;
/** USB interface class of smart card readers (CCID). */
export const SMART_CARD_CLASS = 0x0b;

/** Descriptor type of an interface descriptor, and the offset of its class. Source: USB 2.0, 9.6.5. */
const INTERFACE_DESCRIPTOR = 4;
const INTERFACE_CLASS_AT = 5;

/** A USB device as /sys describes it. */
interface UsbDevice {
  /** USB ids as four lower-case hex digits. */
  readonly vendorId: string;
  readonly productId: string;
  /** Texts of the descriptors, not cleaned; null if the device has none. */
  readonly serial: string | null;
  readonly manufacturer: string | null;
  readonly product: string | null;
  /** The classes of its interfaces. */
  readonly classes: ReadonlySet<number>;
}

/** The device at this location; null if there is none, or no /sys. Never rejects. */
export async function usbDeviceAt({ bus, address }: UsbLocation): Promise<UsbDevice | null> {
  const names = await readdir(DEVICES).catch(() => []);
  // The folder also lists the interfaces of the devices, with a colon in their names.
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

/** The classes of a device's interfaces, from its folder in /sys; null if they cannot be read. */
export async function interfaceClassesIn(folder: string): Promise<ReadonlySet<number> | null> {
  try {
    return interfaceClasses(await readFile(`${folder}/descriptors`));
  } catch {
    return null;
  }
}

/** The classes of all interfaces in a chain of descriptors. Stops at a descriptor that is cut off. */
export function interfaceClasses(descriptors: Uint8Array): ReadonlySet<number> {
  const classes = new Set<number>();
  for (let at = 0; at + 1 < descriptors.length; ) {
    const length = descriptors[at]!;
    if (length < 2 || at + length > descriptors.length) break;
    const isInterface = descriptors[at + 1] === INTERFACE_DESCRIPTOR && length > INTERFACE_CLASS_AT;
    if (isInterface) classes.add(descriptors[at + INTERFACE_CLASS_AT]!);
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
