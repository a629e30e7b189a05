/** The driver of UKEYs: USB security keys found through the system's HID devices. */
import type { AttachedKey, Driver, DriverOptions, DriverStatus, KeyEvent } from '../driver.ts';
import { Keyring } from './hid-keys.ts';
import { parseMatch } from './known.ts';
import { nativeSystem } from './native.ts';
import type { CardSide, CardSideKey } from './plugging.ts';
import type { HidSystem } from './system.ts';

export { parseMatch } from './known.ts';
export { UDEV_RULES, UDEV_RULES_FILE } from './permission.ts';
export type { CardSide, CardSideKey };

export interface HidDriverOptions extends DriverOptions {
  /** More devices that are keys: `vid:pid`, or `vid` for all of a vendor, in hex. */
  readonly match?: readonly string[];
  /** The way to a key's smart card side, where the program has one: see CardSide. */
  readonly cardSide?: CardSide;
  /** The operating system; tests give one of their own. */
  readonly system?: HidSystem;
}

/** Throws a RangeError where a `match` names no USB device; nothing else fails before or after. */
export function createHidDriver(options: HidDriverOptions = {}): Driver {
  const match = (options.match ?? []).map(parseMatch);
  const notice = options.notice ?? (() => undefined);
  const system = options.system ?? nativeSystem(notice);
  let running: Keyring | null = null;
  let ended: DriverStatus = {
    name: 'hid',
    state: 'unavailable',
    detail: 'USB keys are not being watched: not started',
  };

  return {
    name: 'hid',
    status: () => running?.status ?? ended,
    keys: (): readonly AttachedKey[] => running?.keys() ?? [],
    start(listener: (event: KeyEvent) => void): Promise<void> {
      running ??= new Keyring({ ...options, notice, system, match, listener });
      return running.start();
    },
    async stop() {
      const stopping = running;
      running = null;
      ended = { name: 'hid', state: 'unavailable', detail: 'USB keys are not being watched: stopped' };
      await stopping?.stop();
    },
  };
}
