/**
 * What a hardware driver is to the rest of the program: a source of attached keys. No native code here.
 * A driver never throws at its user for want of a library, a service or a permission: it is then `unavailable`
 * and says in `detail` what is missing and which package or command mends it.
 */

export type KeyType = 'UKEY' | 'SIMKEY';
export type Transport = 'HID' | 'PCSC';

/** One physical key while it is plugged in. All texts are already cleaned of control, bidi and zero-width characters. */
export interface AttachedKey {
  /** Opaque and unique to one plugging: a key that is pulled and put back gets a new one. No path of the operating system. */
  readonly keyId: string;
  readonly deviceType: KeyType;
  /** The serial as it would be registered; null where none can be read (then `problem` says why). */
  readonly serialNumber: string | null;
  /** How the serial was read: `usb-descriptor`, `yubikey-management`, `yubikey-otp`, `trussed-uuid`, `iccid`, `eid`, `cplc`, … */
  readonly serialSource: string | null;
  readonly manufacturer: string | null;
  readonly model: string | null;
  readonly hardwareVersion: string | null;
  readonly firmwareVersion: string | null;
  readonly transport: Transport;
  /** Name of the PC/SC reader; null for HID. */
  readonly reader: string | null;
  /** USB ids as four lower-case hex digits; null where there are none. */
  readonly vendorId: string | null;
  readonly productId: string | null;
  /** Milliseconds since 1970, when this plugging was first seen. */
  readonly attachedAt: number;
  /** True for a key that exists in software alone. */
  readonly simulated: boolean;
  /** One line for the operator: why there is no (safe) serial and what to do. Null where all is well. */
  readonly problem: string | null;
}

export interface DriverStatus {
  readonly name: string;
  readonly state: 'ready' | 'unavailable';
  /** What is being watched, or what is missing and how to mend it. Never empty. */
  readonly detail: string;
}

/**
 * `attached` is given once per plugging, when the key has been identified (or given up on: `problem`).
 * `changed` is given when a later look at the same plugging tells something else (a second interface appeared, a
 * permission was granted). `detached` is given once for each `attached`.
 */
export type KeyEvent =
  | { readonly kind: 'attached' | 'changed' | 'detached'; readonly key: AttachedKey }
  | { readonly kind: 'status'; readonly status: DriverStatus };

export interface Driver {
  readonly name: string;
  status(): DriverStatus;
  /** What is attached now, in the order of plugging. */
  keys(): readonly AttachedKey[];
  /**
   * Begins to watch. Resolves when the first scan is over (keys that were there before it have been given as
   * `attached`), or when it is known that the driver is unavailable. Never rejects; recovers by itself later.
   */
  start(listener: (event: KeyEvent) => void): Promise<void>;
  /** Stops watching and releases every handle. Idempotent. No event comes after it has resolved. */
  stop(): Promise<void>;
}

/** A line of hardware traffic: one APDU or report. Given to `DriverOptions.traffic` where it is set. */
export interface TrafficLine {
  readonly driver: string;
  readonly keyId: string;
  readonly direction: 'out' | 'in';
  readonly bytes: Uint8Array;
}

export interface DriverOptions {
  /** Wall clock in milliseconds; injected by tests. */
  readonly now?: () => number;
  readonly traffic?: (line: TrafficLine) => void;
  /** For the log: things worth a line that are no event (a native error that was survived, a scan that was repeated). */
  readonly notice?: (message: string, detail?: Readonly<Record<string, unknown>>) => void;
}

/** The closed set of reasons a hardware call can fail with. */
export type HardwareErrorCode =
  | 'unavailable' // library, service or reader missing
  | 'no-permission'
  | 'removed'
  | 'busy' // another program holds it
  | 'mute' // no answer to power-up: upside down, wrong type or dirty
  | 'timeout'
  | 'aborted'
  | 'protocol'; // it answered what it should not

export class HardwareError extends Error {
  readonly code: HardwareErrorCode;
  constructor(code: HardwareErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'HardwareError';
    this.code = code;
  }
}
