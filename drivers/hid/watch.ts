/** Hints that something was plugged or pulled, from every source there is; none of them is relied on. */
import { watch } from 'node:fs';
import { errorText } from './native-error.ts';
import type { HidWatch } from './system.ts';

type Notice = (message: string, detail?: Readonly<Record<string, unknown>>) => void;
type Stop = () => Promise<void>;

/** The subscription is native code's to answer; keys are looked for without it when it takes longer, in milliseconds. */
const SUBSCRIBE_LIMIT = 1_000;

/**
 * Starts the watches. `announced` says whether the system passes plugging on at all: usb's events come from udevd,
 * which containers lack.
 */
export async function watchPlugging(hint: () => void, notice: Notice, announced: boolean): Promise<HidWatch> {
  const usb = watchUsb(hint, notice);
  const nodes = process.platform === 'linux' ? watchDeviceNodes(hint, notice) : null;
  return {
    events: announced && (await within(usb, SUBSCRIBE_LIMIT)) !== null,
    async stop() {
      nodes?.();
      await (await within(usb, SUBSCRIBE_LIMIT))?.();
    },
  };
}

/** What the work gives, or null where it has given nothing in time. */
async function within<T>(work: Promise<T>, milliseconds: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>(resolve => {
    timer = setTimeout(resolve, milliseconds, null);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
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
