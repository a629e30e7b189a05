/**
 * USB keys for processes under Debian's umockdev: the real libudev and node-hid read them from a sysfs tree created here.
 * `umockdev` returns a command prefix with keys that are attached from the start; `UsbBus` is a tree in which keys are
 * plugged in and unplugged while a process runs. There are no kernel events, so drivers find the keys by scanning.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

export interface FakeUsbKey {
  /** iSerial of the device; null for a key without one. */
  readonly serial: string | null;
  /** Hex. Default: 096e:0850. */
  readonly vendorId?: string;
  readonly productId?: string;
  readonly manufacturer?: string;
  readonly product?: string;
  /** Its HID interfaces in order. Default: one with the FIDO usage page. */
  readonly interfaces?: readonly HidKind[];
}

export type HidKind = 'fido' | 'vendor' | 'keyboard' | 'mouse';

const REPORT_DESCRIPTORS: Readonly<Record<HidKind, string>> = {
  fido: '06D0F10901A1010920150026FF007508954081020921150026FF00750895409102C0',
  vendor: '0600FF0901A1010902150026FF007508954081020903150026FF00750895409102C0',
  keyboard: '05010906A101050719E029E7150025017501950881029501750881010903150026FF00750895B102C0',
  mouse: '05010902A1010901A100050919012903150025019503750181029501750581010501093009311581257F750895028106C0C0',
};

/** A device folder in sysfs. Attributes are written with a line feed at the end. */
interface Entry {
  readonly path: string;
  readonly subsystem: string;
  readonly subsystemFolder: 'bus' | 'class';
  readonly properties: Readonly<Record<string, string>>;
  readonly attributes: Readonly<Record<string, string>>;
  readonly binary?: Readonly<Record<string, string>>;
  readonly deviceLink?: string;
  readonly node?: string;
}

const HUB = '/devices/pci0000:00/0000:00:14.0/usb1';

function hub(): Entry {
  return {
    path: HUB,
    subsystem: 'usb',
    subsystemFolder: 'bus',
    properties: { DEVTYPE: 'usb_device' },
    attributes: { busnum: '1', devnum: '1', idVendor: '1d6b', idProduct: '0002' },
  };
}

/** `address` is the USB device number; `number` is that of the first hidraw node. */
function keyEntries(key: FakeUsbKey, address: number, number: number): Entry[] {
  const vendorId = (key.vendorId ?? '096e').toLowerCase();
  const productId = (key.productId ?? '0850').toLowerCase();
  const device = `${HUB}/1-${address}`;
  const manufacturer = key.manufacturer ?? 'Lab';
  const product = key.product ?? 'Lab key';
  const usb = { PRODUCT: `${vendorId.replace(/^0+/, '')}/${productId.replace(/^0+/, '')}/100` };
  const entries: Entry[] = [
    {
      path: device,
      subsystem: 'usb',
      subsystemFolder: 'bus',
      properties: { DEVTYPE: 'usb_device', ...usb },
      attributes: {
        busnum: '1',
        devnum: String(address),
        idVendor: vendorId,
        idProduct: productId,
        bcdDevice: '0100',
        manufacturer,
        product,
        ...(key.serial === null ? {} : { serial: key.serial }),
      },
    },
  ];
  (key.interfaces ?? ['fido']).forEach((kind, i) => {
    const ids = `${vendorId.toUpperCase()}:${productId.toUpperCase()}`;
    const instance = (number + i).toString(16).toUpperCase().padStart(4, '0');
    const hid = `${device}/1-${address}:1.${i}/0003:${ids}.${instance}`;
    entries.push(
      {
        path: dirname(hid),
        subsystem: 'usb',
        subsystemFolder: 'bus',
        properties: { DEVTYPE: 'usb_interface', ...usb },
        attributes: { bInterfaceNumber: i.toString(16).padStart(2, '0') },
      },
      {
        path: hid,
        subsystem: 'hid',
        subsystemFolder: 'bus',
        properties: {
          HID_ID: `0003:0000${vendorId.toUpperCase()}:0000${productId.toUpperCase()}`,
          HID_NAME: `${manufacturer} ${product}`,
          HID_PHYS: `usb-0000:00:14.0-${address}/input${i}`,
          HID_UNIQ: key.serial ?? '',
        },
        attributes: {},
        binary: { report_descriptor: REPORT_DESCRIPTORS[kind] },
      },
      {
        path: `${hid}/hidraw/hidraw${number + i}`,
        subsystem: 'hidraw',
        subsystemFolder: 'class',
        properties: { DEVNAME: `/dev/hidraw${number + i}` },
        attributes: { dev: `240:${number + i}` },
        deviceLink: `../../../${hid.slice(hid.lastIndexOf('/') + 1)}`,
        node: `hidraw${number + i}`,
      },
    );
  });
  return entries;
}

function allEntries(keys: readonly FakeUsbKey[]): Entry[] {
  let number = 0;
  const entries = keys.map((key, i) => {
    const created = keyEntries(key, 2 + i, number);
    number += created.filter(entry => entry.node !== undefined).length;
    return created;
  });
  return [hub(), ...entries.flat()];
}

/** The keys in the form that `umockdev-run -d` reads. */
export function describeKeys(keys: readonly FakeUsbKey[]): string {
  const escaped = (value: string): string => value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  const blocks = allEntries(keys).map(entry => {
    const lines = [`P: ${entry.path}`];
    if (entry.node !== undefined) lines.push(`N: ${entry.node}`);
    lines.push(`E: SUBSYSTEM=${entry.subsystem}`);
    for (const [name, value] of Object.entries(entry.properties)) lines.push(`E: ${name}=${value}`);
    for (const [name, value] of Object.entries(entry.attributes)) lines.push(`A: ${name}=${escaped(value)}\\n`);
    for (const [name, value] of Object.entries(entry.binary ?? {})) lines.push(`H: ${name}=${value}`);
    if (entry.deviceLink !== undefined) lines.push(`L: device=${entry.deviceLink}`);
    return lines.join('\n');
  });
  return `${blocks.join('\n\n')}\n`;
}

/**
 * Writes the description of the keys into `folder` and returns the command prefix that runs any command with these keys
 * plugged in: `[...await umockdev(folder, [{ serial: 'SN-1' }]), 'node', 'program.js']`.
 */
export async function umockdev(folder: string, keys: readonly FakeUsbKey[]): Promise<string[]> {
  const file = join(folder, 'keys.umockdev');
  await writeFile(file, describeKeys(keys));
  return ['umockdev-run', '-d', file, '--'];
}

/** A USB bus for processes started with its `env`, on which keys are plugged in and unplugged while they run. */
export class UsbBus {
  readonly #root: string;
  readonly #holder: ChildProcess;
  #address = 1;
  #number = 0;
  readonly #plugged = new Map<number, Entry[]>();

  private constructor(root: string, holder: ChildProcess) {
    this.#root = root;
    this.#holder = holder;
  }

  /** The tree belongs to an umockdev-run that runs as long as the bus and serves the device nodes. */
  static async create(): Promise<UsbBus> {
    const holder = spawn('umockdev-run', ['--', 'sh', '-c', 'echo "$UMOCKDEV_DIR"; exec cat'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const ended = once(holder, 'exit').then(([status]) => {
      throw new Error(`umockdev-run ended with ${status}`);
    });
    const [line] = (await Promise.race([once(holder.stdout, 'data'), ended])) as [Buffer];
    ended.catch(() => undefined);
    const bus = new UsbBus(line.toString().trim(), holder);
    await mkdir(join(bus.#root, 'dev'), { recursive: true });
    await mkdir(join(bus.#root, 'sys', 'class', 'hidraw'), { recursive: true });
    await bus.#create(hub());
    return bus;
  }

  /** The environment of processes that use this bus; their children inherit it. */
  get env(): Readonly<Record<string, string>> {
    return { LD_PRELOAD: 'libumockdev-preload.so.0', UMOCKDEV_DIR: this.#root };
  }

  /** Plugs a key in with all its interfaces. Resolves with its USB address, for `pull`. */
  async plug(key: FakeUsbKey): Promise<number> {
    this.#address += 1;
    const entries = keyEntries(key, this.#address, this.#number);
    this.#number += entries.length;
    this.#plugged.set(this.#address, entries);
    for (const entry of entries) await this.#create(entry);
    return this.#address;
  }

  async pull(address: number): Promise<void> {
    const entries = this.#plugged.get(address) ?? [];
    this.#plugged.delete(address);
    for (const entry of entries) {
      const name = entry.path.slice(entry.path.lastIndexOf('/') + 1);
      await rm(join(this.#root, 'sys', ...this.#listing(entry), name), { force: true });
      if (entry.node !== undefined) await rm(join(this.#root, 'dev', entry.node), { force: true });
    }
    await rm(join(this.#root, 'sys', `${HUB}/1-${address}`), { recursive: true, force: true });
  }

  async dispose(): Promise<void> {
    const ended = once(this.#holder, 'exit');
    this.#holder.stdin?.end();
    await ended;
    await rm(this.#root, { recursive: true, force: true });
  }

  #listing(entry: Entry): string[] {
    return entry.subsystemFolder === 'bus' ? ['bus', entry.subsystem, 'devices'] : ['class', entry.subsystem];
  }

  /** Creates the link in bus/ or class/ last, because libudev lists by it: a device is never listed incomplete. */
  async #create(entry: Entry): Promise<void> {
    const sys = join(this.#root, 'sys');
    const folder = join(sys, entry.path);
    await mkdir(folder, { recursive: true });
    const properties = Object.entries({ SUBSYSTEM: entry.subsystem, ...entry.properties });
    await writeFile(join(folder, 'uevent'), properties.map(([name, value]) => `${name}=${value}\n`).join(''));
    for (const [name, value] of Object.entries(entry.attributes)) await writeFile(join(folder, name), `${value}\n`);
    for (const [name, hex] of Object.entries(entry.binary ?? {})) {
      await writeFile(join(folder, name), Buffer.from(hex, 'hex'));
    }
    if (entry.deviceLink !== undefined) await symlink(entry.deviceLink, join(folder, 'device'));
    if (entry.node !== undefined) await writeFile(join(this.#root, 'dev', entry.node), '');
    const home = join(sys, entry.subsystemFolder, entry.subsystem);
    await symlink(relative(folder, home), join(folder, 'subsystem'));
    const list = join(sys, ...this.#listing(entry));
    await mkdir(list, { recursive: true });
    await symlink(relative(list, folder), join(list, entry.path.slice(entry.path.lastIndexOf('/') + 1)));
  }
}
