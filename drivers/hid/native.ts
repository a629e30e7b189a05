/** The HID driver's system on node-hid and usb: the only file that loads them, and not before they are needed. */
import { existsSync } from 'node:fs';
import type { Device } from 'node-hid';
import { HardwareError } from '../driver.ts';
import { abortError } from '../ukey/deadline.ts';
import { openHandle } from './handle.ts';
import { errorText, hardwareError } from './native-error.ts';
import { Topology } from './sysfs.ts';
import type { HidInterface, HidSystem } from './system.ts';
import { watchPlugging } from './watch.ts';

type NodeHid = typeof import('node-hid');
export type Notice = (message: string, detail?: Readonly<Record<string, unknown>>) => void;

/** Debian's package for each library that the native modules are linked with. */
const PACKAGES: Readonly<Record<string, string>> = {
  'libusb-1.0.so.0': 'libusb-1.0-0',
  'libudev.so.1': 'libudev1',
};

/** Says what is missing and how to get it, from what loading a native module failed with. */
export function describeMissing(error: unknown): string {
  const text = errorText(error);
  const library = /lib[\w.+-]*\.so(?:\.\d+)*/.exec(text)?.[0];
  if (library !== undefined && /cannot open shared object|no such file/i.test(text)) {
    const wanted = PACKAGES[library] ?? `the package that holds ${library}`;
    return `USB keys cannot be read: ${library} is missing. Install it with: apt-get install ${wanted}`;
  }
  return `USB keys cannot be read: node-hid does not work here (${text}). Run npm ci again on this machine`;
}

async function loadHid(): Promise<NodeHid> {
  return (await import('node-hid')).default;
}

export function nativeSystem(notice: Notice): HidSystem {
  const topology = new Topology();
  return {
    async list() {
      let devices: Device[];
      try {
        devices = await (await loadHid()).devicesAsync();
      } catch (error) {
        throw new HardwareError('unavailable', describeMissing(error), { cause: error });
      }
      const found = await Promise.all(devices.map(device => interfaceOf(device, topology)));
      topology.endOfListing();
      return found.filter(one => one !== null);
    },

    async open(path, signal) {
      const what = 'opening the key';
      if (signal.aborted) throw abortError(signal, what);
      try {
        const device = await (await loadHid()).HIDAsync.open(path);
        const handle = openHandle(device);
        if (!signal.aborted) return handle;
        await handle.close();
      } catch (error) {
        throw hardwareError(error, what);
      }
      throw abortError(signal, what);
    },

    watch: hint => watchPlugging(hint, notice, existsSync('/run/udev/control') || process.platform !== 'linux'),
  };
}

const hex = (id: number): string => id.toString(16).padStart(4, '0');
const text = (s: string | null | undefined): string | null => (s === undefined || s === '' ? null : s);

async function interfaceOf(device: Device, topology: Topology): Promise<HidInterface | null> {
  if (device.path === undefined) return null;
  const base = {
    path: device.path,
    place: null,
    vendorId: hex(device.vendorId),
    productId: hex(device.productId),
    usagePage: device.usagePage ?? 0,
    usage: device.usage ?? 0,
    serial: text(device.serialNumber),
    manufacturer: text(device.manufacturer),
    product: text(device.product),
    release: device.release,
  };
  if (process.platform !== 'linux') return { ...base, unit: unitWithoutTopology(base) };
  const found = await topology.find(device.path);
  if (found === null) return null;
  if (found.usb === null) return { ...base, unit: found.unit };
  // hidraw numbers are reused at once: what node-hid listed may already be another device's place.
  if (found.usb.vendorId !== base.vendorId || found.usb.productId !== base.productId) return null;
  if (base.serial !== null && found.usb.serial !== null && !found.usb.serial.startsWith(base.serial)) return null;
  return {
    ...base,
    unit: found.unit,
    place: found.usb.place,
    // node-hid cuts texts at 63 bytes and drops those with letters beyond ASCII.
    serial: found.usb.serial ?? base.serial,
    manufacturer: found.usb.manufacturer ?? base.manufacturer,
    product: found.usb.product ?? base.product,
  };
}

/**
 * Where the system tells no place: interfaces with one serial are one key (two that share it are refused anyway once
 * told apart), and an interface without a serial is a key by itself.
 */
function unitWithoutTopology(device: {
  path: string;
  vendorId: string;
  productId: string;
  serial: string | null;
}): string {
  return device.serial === null
    ? `path:${device.path}`
    : `serial:${device.vendorId}:${device.productId}:${device.serial}`;
}
