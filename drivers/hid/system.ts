/**
 * The part of the operating system that the HID driver needs. The logic of the driver uses only this interface; `native.ts`
 * implements it on node-hid and usb, and tests replace it to do what real hardware rarely does.
 */
import type { Closable, FeatureConnection, ReportConnection } from '../protocols/connection.ts';
import type { UsbLocation } from '../usb/sysfs.ts';

/** One HID interface (or one top-level collection of it) that exists now. */
export interface HidInterface {
  /** The path to open. The system reuses it after unplugging, so it identifies nothing. Never leaves the driver. */
  readonly path: string;
  /** Identifies one physical device from plugging to unplugging: all its interfaces have the same, and it is not reused soon. */
  readonly deviceId: string;
  /** Null if the system does not report one. */
  readonly location: UsbLocation | null;
  /** Whether the device has a smart card interface; null if the system does not report it. */
  readonly hasSmartCard: boolean | null;
  /** USB ids as four lower-case hex digits. */
  readonly vendorId: string;
  readonly productId: string;
  readonly usagePage: number;
  readonly usage: number;
  /** Texts of the USB descriptors, not cleaned; null if the device has none. */
  readonly serial: string | null;
  readonly manufacturer: string | null;
  readonly product: string | null;
  /** bcdDevice: the maker's version number of the device. */
  readonly release: number;
}

/** One physical device with its HID interfaces. */
export interface HidDevice {
  readonly id: string;
  readonly interfaces: readonly HidInterface[];
  /** The first interface, for what is the same for the whole device. */
  readonly descriptor: HidInterface;
  /** Changes when an interface appears or disappears. */
  readonly interfaceSet: string;
}

/** Groups interfaces by their device, in the order of the listing. */
export function groupByDevice(interfaces: readonly HidInterface[]): Map<string, HidDevice> {
  const devices = new Map<string, HidDevice>();
  for (const [id, group] of Map.groupBy(interfaces, one => one.deviceId)) {
    const names = group.map(one => `${one.path} ${one.usagePage}:${one.usage}`).sort();
    devices.set(id, { id, interfaces: group, descriptor: group[0]!, interfaceSet: names.join('\n') });
  }
  return devices;
}

/** An opened interface. */
export interface HidHandle extends ReportConnection, FeatureConnection, Closable {}

/** A running watch for keys that are plugged in or unplugged. */
export interface HidWatch {
  /** True if the system reports plugging; false if only scanning again finds it. */
  readonly events: boolean;
  stop(): Promise<void>;
}

/** The operating system. */
export interface HidSystem {
  /** The interfaces that exist now, found without opening any. Rejects only with HardwareError `unavailable`. */
  list(): Promise<readonly HidInterface[]>;
  /** Rejects with a HardwareError: `no-permission`, `removed`, `busy`, `protocol`, `timeout` or `aborted`. */
  open(path: string, signal: AbortSignal): Promise<HidHandle>;
  /** Calls `hint` when something may have been plugged in or unplugged. Never rejects. */
  watch(hint: () => void): Promise<HidWatch>;
}
