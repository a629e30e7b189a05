/** The HID driver's system on node-hid and usb. They are loaded only when they are needed. */
import { existsSync } from 'node:fs';
import { abortError, withSignal } from '../deadline.ts';
import { HardwareError, type Notice } from '../driver.ts';
import { describeMissing, hardwareError } from './errors.ts';
import { NodeHidHandle } from './handle.ts';
import { type Enumerate, NodeHidListing, SysfsListing } from './listing.ts';
import type { HidSystem } from './system.ts';
import { watchPlugging } from './watch.ts';

type NodeHid = typeof import('node-hid');

async function loadHid(): Promise<NodeHid> {
  return (await import('node-hid')).default;
}

const enumerate: Enumerate = async () => {
  try {
    return await (await loadHid()).devicesAsync();
  } catch (error) {
    throw new HardwareError('unavailable', describeMissing(error), { cause: error });
  }
};

/** The system of this machine. `notice` receives failures of the watch. */
export function nativeSystem(notice: Notice): HidSystem {
  const linux = process.platform === 'linux';
  const listing = linux ? new SysfsListing(enumerate) : new NodeHidListing(enumerate);
  // usb's events come from udevd on Linux, which containers do not have.
  const hasUdevd = !linux || existsSync('/run/udev/control');
  return {
    list: () => listing.list(),

    async open(path, signal) {
      const what = 'opening the key';
      if (signal.aborted) throw abortError(signal, what);
      const opening = loadHid().then(async hid => new NodeHidHandle(await hid.HIDAsync.open(path)));
      try {
        return await withSignal(opening, signal, () => abortError(signal, what));
      } catch (error) {
        // An aborted call may still open the key later.
        opening.then(handle => handle.close()).catch(() => undefined);
        throw hardwareError(error, what);
      }
    },

    watch: hint => watchPlugging(hint, notice, hasUdevd),
  };
}
