/** Hints that something was plugged in or unplugged, from every available source. No source is relied on. */
import { watch } from 'node:fs';
import type { Notice } from '../driver.ts';
import { errorText } from './errors.ts';
import type { HidWatch } from './system.ts';

type Stop = () => Promise<void>;

/** Milliseconds that the native subscription may take. After that the driver continues without it. */
const SUBSCRIBE_LIMIT = 1_000;

/** Starts the watches. `announced` shows whether the system reports plugging at all. Never rejects. */
export async function watchPlugging(hint: () => void, notice: Notice, announced: boolean): Promise<HidWatch> {
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
