import type { CardConnection, Closable } from './protocols/connection.ts';
import type { UsbLocation } from './usb/sysfs.ts';

/** A USB key whose smart card interface is wanted. */
export interface KeyCardRequest {
  readonly keyId: string;
  /** Four lower-case hex digits. */
  readonly vendorId: string;
  /** Null if the system does not report one. */
  readonly location: UsbLocation | null;
}

/**
 * Access to the smart card interfaces of USB keys, for a driver that knows the keys by another interface. Some keys report
 * their serial only there.
 */
export interface KeyCards {
  /** Why no smart card interface can be reached at the moment, and what to do; null if they can be reached. */
  absence(): string | null;
  /** Fails with a HardwareError: `unavailable` while this key's smart card interface has not appeared. */
  open(key: KeyCardRequest, signal: AbortSignal): Promise<CardConnection & Closable>;
  /** Calls `listener` whenever a smart card interface has appeared. */
  onArrival(listener: () => void): void;
}
