/** The HID driver's system on node-hid and usb. They are loaded only when they are needed. */
import { existsSync, watch } from 'node:fs';
import { abortError, withSignal } from '../deadline.ts';
import type { Notice } from '../driver.ts';
import { HardwareError } from '../hardware-error.ts';
import { describeMissing, errorText, hardwareError } from './errors.ts';
import { NodeHidHandle } from './handle.ts';
import { type Enumerate, nodeHidListing, sysfsListing } from './listing.ts';
import type { HidSystem, HidWatch } from './system.ts';

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
  // usb's events come from udevd on Linux, which containers do not have.
  const hasUdevd = !linux || existsSync('/run/udev/control');
  return {
    list: linux ? sysfsListing(enumerate) : nodeHidListing(enumerate),

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

type Stop = () => Promise<void>;

/** Milliseconds that the native subscription may take. After that the driver continues without it. */
const SUBSCRIBE_LIMIT = 1_000;

/** Hints from every available source; no source is relied on. `announced`: whether the system reports plugging at all. Never rejects. */
async function watchPlugging(hint: () => void, notice: Notice, announced: boolean): Promise<HidWatch> {
  const usb = watchUsb(hint, notice);
  const stopNodes = process.platform === 'linux' ? watchDeviceNodes(hint, notice) : null;
  return {
    events: announced && (await within(usb, SUBSCRIBE_LIMIT)) !== null,
    async stop() {
      stopNodes?.();
      await (await within(usb, SUBSCRIBE_LIMIT))?.();
    },
  };
}

/** The result of the work, or null if it takes longer. */
async function within<T>(work: Promise<T>, milliseconds: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>(resolve => {
    timer = setTimeout(resolve, milliseconds, null);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/**
 * Uses usb's native emitter without the class that the package puts around it: that class turns a failed subscription into
 * an uncaught exception and creates devices whose getters throw. Here an event is only a hint, and nothing of it is read.
 */
async function watchUsb(hint: () => void, notice: Notice): Promise<Stop | null> {
  try {
    const { default: usb } = await import('usb/index.js');
    const emitter = new usb.Emitter();
    await emitter.addAttach(() => hint());
    await emitter.addDetach(() => hint());
    return async () => {
      try {
        await emitter.removeAttach();
        await emitter.removeDetach();
      } catch (error) {
        notice('the watch for USB events could not be stopped', { error: errorText(error) });
      }
    };
  } catch (error) {
    notice('no USB events: keys are found by scanning', { error: errorText(error) });
    return null;
  }
}

/** The kernel creates and removes /dev/hidrawN with or without udevd, and before usb's event comes. */
function watchDeviceNodes(hint: () => void, notice: Notice): (() => void) | null {
  try {
    const watcher = watch('/dev', (_kind, name) => {
      if (name?.startsWith('hidraw')) hint();
    });
    watcher.on('error', error => notice('no events from /dev', { error: errorText(error) }));
    return () => watcher.close();
  } catch (error) {
    notice('no events from /dev', { error: errorText(error) });
    return null;
  }
}
