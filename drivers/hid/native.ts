/** The HID driver's system on node-hid and usb: the only file that loads them, and not before they are needed. */
import { existsSync } from 'node:fs';
import { HardwareError } from '../driver.ts';
import { abortError, withSignal } from '../protocols/deadline.ts';
import { openHandle } from './handle.ts';
import { type Enumerate, LinuxListing, PlainListing } from './listing.ts';
import { errorText, hardwareError } from './native-error.ts';
import type { HidSystem } from './system.ts';
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
  const library = /(?<![\w.+-])lib[\w.+-]*\.so(?:\.\d+)*/.exec(text)?.[0];
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
  const enumerate: Enumerate = async () => {
    try {
      return await (await loadHid()).devicesAsync();
    } catch (error) {
      throw new HardwareError('unavailable', describeMissing(error), { cause: error });
    }
  };
  const linux = process.platform === 'linux';
  const listing = linux ? new LinuxListing(enumerate) : new PlainListing(enumerate);
  return {
    list: () => listing.list(),

    async open(path, signal) {
      const what = 'opening the key';
      if (signal.aborted) throw abortError(signal, what);
      const opening = loadHid().then(async hid => openHandle(await hid.HIDAsync.open(path)));
      try {
        return await withSignal(opening, signal, what);
      } catch (error) {
        // An opening that was given up on may still succeed later.
        opening.then(handle => handle.close()).catch(() => undefined);
        throw hardwareError(error, what);
      }
    },

    watch: hint => watchPlugging(hint, notice, !linux || existsSync('/run/udev/control')),
  };
}
