/** Hints that something was plugged or pulled, from every source there is; none of them is relied on. */
import { watch } from 'node:fs';
import { errorText } from './native-error.ts';
import type { HidWatch } from './system.ts';

type Notice = (message: string, detail?: Readonly<Record<string, unknown>>) => void;
type Stop = () => Promise<void>;

/**
 * Starts the watches. `announced` says whether the system passes plugging on at all: usb's events come from udevd,
 * which containers lack.
 */
export async function watchPlugging(hint: () => void, notice: Notice, announced: boolean): Promise<HidWatch> {
  const usb = await watchUsb(hint, notice);
  const nodes = process.platform === 'linux' ? watchDeviceNodes(hint, notice) : null;
  return {
    events: usb !== null && announced,
    async stop() {
      await Promise.all([usb?.(), nodes?.()]);
    },
  };
}

/**
 * usb's native emitter, used without the package's own class around it: that one turns a failure to subscribe into an
 * uncaught exception, and hands out devices whose getters throw. Here an event is a hint, nothing of it is read.
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
        notice('the watch for USB events did not end cleanly', { error: errorText(error) });
      }
    };
  } catch (error) {
    notice('no USB events: keys are found by looking again', { error: errorText(error) });
    return null;
  }
}

/** The kernel makes and removes /dev/hidrawN by itself, with or without udevd, before usb's event comes. */
function watchDeviceNodes(hint: () => void, notice: Notice): Stop | null {
  try {
    const watcher = watch('/dev', (_kind, name) => {
      if (name?.startsWith('hidraw')) hint();
    });
    watcher.on('error', error => notice('no events from /dev', { error: errorText(error) }));
    return async () => watcher.close();
  } catch (error) {
    notice('no events from /dev', { error: errorText(error) });
    return null;
  }
}
