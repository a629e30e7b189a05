/** The driver of UKEYs: USB security keys, found through the system's HID devices. */
import type { Driver, DriverOptions, DriverStatus, KeyEvent } from '../driver.ts';
import { notAttached } from '../hardware-error.ts';
import type { KeyCards } from '../key-cards.ts';
import { HidKeys } from './hid-keys.ts';
import { parseMatch } from './known.ts';
import { nativeSystem } from './native.ts';
import type { HidSystem } from './system.ts';

/** Options of the HID driver. */
export interface HidDriverOptions extends DriverOptions {
  /** More devices that are keys: `vid:pid`, or `vid` for every product of a vendor, in hex. */
  readonly match?: readonly string[];
  /** Access to the keys' smart card interfaces. Default: they are not used. */
  readonly keyCards?: KeyCards;
  /** The operating system. Replaced by tests. */
  readonly system?: HidSystem;
}

const inactive = (why: string): DriverStatus => ({
  name: 'hid',
  state: 'unavailable',
  detail: `USB keys are not being watched: ${why}`,
});

/** Throws a RangeError if a `match` is not a USB id. */
export function createHidDriver(options: HidDriverOptions = {}): Driver {
  const match = (options.match ?? []).map(parseMatch);
  const notice = options.notice ?? (() => undefined);
  const system = options.system ?? nativeSystem(notice);
  let running: HidKeys | null = null;
  let ended = inactive('not started');

  return {
    name: 'hid',
    status: () => running?.status ?? ended,
    keys: () => running?.keys() ?? [],
    start(listener: (event: KeyEvent) => void): Promise<void> {
      running ??= new HidKeys({ ...options, notice, system, match, listener });
      return running.start();
    },
    async prove(keyId, request, work) {
      if (running === null) throw notAttached();
      return running.prove(keyId, request, work);
    },
    async recognize(keyId, question, signal) {
      if (running === null) throw notAttached();
      return running.recognize(keyId, question, signal);
    },
    async issue(keyId, work, task) {
      if (running === null) throw notAttached();
      return running.issue(keyId, work, task);
    },
    async stop() {
      const stopping = running;
      running = null;
      ended = inactive('stopped');
      await stopping?.stop();
    },
  };
}
