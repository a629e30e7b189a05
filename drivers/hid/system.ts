/**
 * What the HID driver needs of the operating system. The driver's logic knows this interface alone; `native.ts`
 * implements it on node-hid and usb, tests of what hardware seldom does implement it on a table.
 */
import type { FeatureConnection, ReportConnection } from '../protocols/ukey/connection.ts';
import type { UsbPlace } from '../usb/place.ts';

/** One HID interface (or one top-level collection of it) that is there now. */
export interface HidInterface {
  /** Where to open it; reused by the system after unplugging, so it names nothing. Never leaves the driver. */
  readonly path: string;
  /** Names one plugging of one physical device: all interfaces of it share this, and it is not used again soon. */
  readonly unit: string;
  /** Place on the USB bus, as lsusb counts; null where the system tells none. */
  readonly place: UsbPlace | null;
  /** Whether the device has a smart card side; null where the system does not tell. */
  readonly smartCard: boolean | null;
  /** USB ids as four lower-case hex digits. */
  readonly vendorId: string;
  readonly productId: string;
  readonly usagePage: number;
  readonly usage: number;
  /** Texts of the USB descriptors, uncleaned; null where the device has none. */
  readonly serial: string | null;
  readonly manufacturer: string | null;
  readonly product: string | null;
  /** bcdDevice: the version number the maker gave the device. */
  readonly release: number;
}

/** An opened interface. `close` may be called at any time, more than once, and never rejects. */
export interface HidHandle extends ReportConnection, FeatureConnection {
  close(): Promise<void>;
}

/** A running watch for plugging. */
export interface HidWatch {
  /** True where the system reports plugging by itself; false where only looking again finds it. */
  readonly events: boolean;
  stop(): Promise<void>;
}

export interface HidSystem {
  /** What is there now, told without opening anything. Rejects with HardwareError `unavailable` alone. */
  list(): Promise<readonly HidInterface[]>;
  /** Rejects with HardwareError: `no-permission`, `removed`, `busy` or `protocol`. */
  open(path: string, signal: AbortSignal): Promise<HidHandle>;
  /** Calls `hint` when something may have been plugged or pulled. Never rejects; what fails is told to `notice`. */
  watch(hint: () => void): Promise<HidWatch>;
}
