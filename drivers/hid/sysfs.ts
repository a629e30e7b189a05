/** Linux: the hidraw nodes and the physical device that each belongs to, read from /sys without opening anything. */
import { type Dir, opendirSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { HardwareError } from '../hardware-error.ts';
import { interfaceClassesIn, SMART_CARD_CLASS } from '../usb/sysfs.ts';
import { topLevelUsages } from './report-descriptor.ts';
import type { HidInterface } from './system.ts';

const HIDRAW = '/sys/class/hidraw';

/** A node /dev/hidrawN. */
export interface HidrawNode {
  /** `hidrawN`; the kernel reuses the number as soon as it is free. */
  readonly name: string;
  /** The kernel's name of the HID device, such as `0003:1050:0407.000A`. Its last part is a counter and never repeats. */
  readonly instance: string;
}

/**
 * All nodes, in the order in which their devices appeared. Reads synchronously, which takes less time than handing it to a
 * thread: the kernel reads folders and links from memory, while an attribute may have to wait for the device. Throws
 * HardwareError `unavailable` if this process may not open more files.
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
  } catch (error) {
    // The folder does not exist before the first HID device.
    absent(error as NodeJS.ErrnoException);
  } finally {
    folder?.closeSync();
  }
  return names;
}

/** The HID device that a node belongs to now; null if the node is gone. */
function instanceOf(name: string): string | null {
  try {
    const link = readlinkSync(`${HIDRAW}/${name}/device`);
    return link.slice(link.lastIndexOf('/') + 1);
  } catch {
    return null;
  }
}

/**
 * The interface that a node belongs to, once for each of its top-level collections. Null if the node is gone, belongs to
 * another device by now, or is not complete yet. Rejects as `hidrawNodes` throws.
 */
export async function interfacesOf(node: HidrawNode): Promise<HidInterface[] | null> {
  const hid = `${HIDRAW}/${node.name}/device`;
  // The kernel resolves the dots after the links: the parent of the HID device is the interface, its parent the USB device.
  const usb = `${hid}/../..`;
  const classes = interfaceClassesIn(usb);
  const [uevent, report, bus, address, release, serial, manufacturer, product] = await Promise.all([
    text(`${hid}/uevent`),
    readFile(`${hid}/report_descriptor`).catch(absent),
    text(`${usb}/busnum`),
    text(`${usb}/devnum`),
    text(`${usb}/bcdDevice`),
    text(`${usb}/serial`),
    text(`${usb}/manufacturer`),
    text(`${usb}/product`),
  ]);
  const hasSmartCard = (await classes)?.has(SMART_CARD_CLASS) ?? null;
  const hidDevice = uevent === null ? null : namesIn(uevent);
  if (hidDevice === null || report === null || instanceOf(node.name) !== node.instance) return null;
  const location = bus && address ? { bus: Number(bus), address: Number(address) } : null;
  const device = {
    path: `/dev/${node.name}`,
    deviceId: location === null ? `hid:${node.instance}` : `usb:${bus}:${address}`,
    location,
    hasSmartCard: location === null ? null : hasSmartCard,
    vendorId: hidDevice.vendorId,
    productId: hidDevice.productId,
    serial: (location === null ? hidDevice.serial : serial) || null,
    manufacturer: (location === null ? null : manufacturer) || null,
    product: (location === null ? hidDevice.name : product) || null,
    release: location === null ? 0 : Number.parseInt(release || '0', 16) || 0,
  };
  const usages = topLevelUsages(report);
  return (usages.length > 0 ? usages : [{ usagePage: 0, usage: 0 }]).map(usage => ({ ...device, ...usage }));
}

/** The ids (four lower-case hex digits each), the name and the serial of the HID device itself. */
function namesIn(uevent: string) {
  const lines = uevent.split('\n');
  const value = (name: string): string | null =>
    lines.find(line => line.startsWith(`${name}=`))?.slice(name.length + 1) ?? null;
  const ids = /^[0-9A-F]+:0*([0-9A-F]{4}):0*([0-9A-F]{4})$/i.exec(value('HID_ID') ?? '');
  if (ids === null) return null;
  const [vendorId, productId] = [ids[1]!.toLowerCase(), ids[2]!.toLowerCase()];
  return { vendorId, productId, name: value('HID_NAME'), serial: value('HID_UNIQ') };
}

/** The content without the last line feed; null if the file does not exist. */
function text(file: string): Promise<string | null> {
  return readFile(file, 'utf8').then(content => content.replace(/\n$/, ''), absent);
}

/** A file that cannot be read counts as missing, unless no more files may be opened: then nothing is known of any device. */
function absent(error: NodeJS.ErrnoException): null {
  if (error.code !== 'EMFILE' && error.code !== 'ENFILE') return null;
  throw new HardwareError('unavailable', TOO_MANY_FILES, { cause: error });
}

const TOO_MANY_FILES =
  'USB keys cannot be listed: too many files and connections are open. Close some, or raise the limit (LimitNOFILE of the service)';
