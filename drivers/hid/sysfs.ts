/** Linux: the hidraw nodes there are, and which physical device each belongs to, read from /sys without opening anything. */
import { type Dir, opendirSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { HardwareError } from '../driver.ts';
import { interfaceClassesIn, SMART_CARD_CLASS } from '../usb/sysfs.ts';
import { topLevelUsages } from './report-descriptor.ts';
import type { HidInterface } from './system.ts';

const HIDRAW = '/sys/class/hidraw';

export interface HidrawNode {
  /** `hidrawN`; the number is used again as soon as it is free. */
  readonly name: string;
  /** The kernel's name of the HID device, `0003:1050:0407.000A`: its last part counts up and comes only once. */
  readonly instance: string;
}

/**
 * All nodes, in the order in which their devices appeared. Read at once, in less time than handing it to a thread takes:
 * the kernel answers for folders and links out of its memory, while for an attribute it may wait for the device. Fails with
 * HardwareError `unavailable` where this process may open no more files.
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
    // A kernel that has seen no HID device yet has no such folder.
    absent(error as NodeJS.ErrnoException);
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

/**
 * The interface a node stands for, once for each of its top-level collections. Null where the node has gone meanwhile,
 * belongs to another device by now, or is half made. Rejects as `hidrawNodes` fails.
 */
export async function interfacesOf(node: HidrawNode): Promise<HidInterface[] | null> {
  const hid = `${HIDRAW}/${node.name}/device`;
  // The kernel resolves the dots after the links: the HID device's parent is the interface, above it stands the device.
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
  const smartCard = (await classes)?.has(SMART_CARD_CLASS) ?? null;
  const said = uevent === null ? null : namesIn(uevent);
  if (said === null || report === null || instanceOf(node.name) !== node.instance) return null;
  const place = bus && address ? { bus: Number(bus), address: Number(address) } : null;
  const device = {
    path: `/dev/${node.name}`,
    unit: place === null ? `hid:${node.instance}` : `usb:${bus}:${address}`,
    place,
    smartCard: place === null ? null : smartCard,
    vendorId: said.vendorId,
    productId: said.productId,
    serial: (place === null ? said.unique : serial) || null,
    manufacturer: (place === null ? null : manufacturer) || null,
    product: (place === null ? said.name : product) || null,
    release: place === null ? 0 : Number.parseInt(release || '0', 16) || 0,
  };
  const usages = topLevelUsages(report);
  return (usages.length > 0 ? usages : [{ usagePage: 0, usage: 0 }]).map(usage => ({ ...device, ...usage }));
}

/** What the HID device itself says: its ids (four lower-case hex digits each), its name and its serial. */
function namesIn(uevent: string) {
  const lines = uevent.split('\n');
  const value = (name: string): string | null =>
    lines.find(line => line.startsWith(`${name}=`))?.slice(name.length + 1) ?? null;
  const ids = /^[0-9A-F]+:0*([0-9A-F]{4}):0*([0-9A-F]{4})$/i.exec(value('HID_ID') ?? '');
  if (ids === null) return null;
  const [vendorId, productId] = [ids[1]!.toLowerCase(), ids[2]!.toLowerCase()];
  return { vendorId, productId, name: value('HID_NAME'), unique: value('HID_UNIQ') };
}

/** Null where it is not there. */
function text(file: string): Promise<string | null> {
  return readFile(file, 'utf8').then(content => content.replace(/\n$/, ''), absent);
}

/** What cannot be read is not there, but for want of files to open: then nothing is known of any device. */
function absent(error: NodeJS.ErrnoException): null {
  if (error.code !== 'EMFILE' && error.code !== 'ENFILE') return null;
  throw new HardwareError('unavailable', TOO_MANY_FILES, { cause: error });
}

const TOO_MANY_FILES =
  'USB keys cannot be listed: too many files and connections are open. Close some, or raise the limit (LimitNOFILE of the service)';
