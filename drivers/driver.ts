/**
 * The interface between a hardware driver and the rest of the program: a driver reports which keys are attached.
 * This file loads no native code. A missing library, service or permission never makes a driver throw: its status
 * becomes `unavailable`, and `detail` says what is missing and which package or command fixes it.
 */

/** UKEY: a USB security key. SIMKEY: a SIM card or another smart card in a reader. */
export type KeyType = 'UKEY' | 'SIMKEY';
/** The system interface a key was found through. */
export type Transport = 'HID' | 'PCSC';

/** One physical key from the moment it is plugged in until it is unplugged. All texts have passed `cleanText`. */
export interface AttachedKey {
  /** Opaque. A key that is unplugged and plugged in again gets a new one. Never a path of the operating system. */
  readonly keyId: string;
  readonly deviceType: KeyType;
  /** The serial number as it would be registered; null if none can be read (`problem` says why). */
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
  /** USB ids as four lower-case hex digits; null for a key without USB ids. */
  readonly vendorId: string | null;
  readonly productId: string | null;
  /** Milliseconds since 1970 at which the driver first saw this key. */
  readonly attachedAt: number;
  /** True for a key that exists only in software. */
  readonly simulated: boolean;
  /** One line for the operator: why there is no safe serial and what to do. Null if there is no problem. */
  readonly problem: string | null;
}

/** Whether a driver works at the moment. */
export interface DriverStatus {
  readonly name: string;
  readonly state: 'ready' | 'unavailable';
  /** What is being watched, or what is missing and how to fix it. Never empty. */
  readonly detail: string;
}

/**
 * `attached` comes once per key, after the key was identified or after the driver gave up (`problem`).
 * `changed` comes when a later read of the same key gives another result: a second interface appeared, or a permission
 * was granted. `detached` comes once for each `attached`.
 */
export type KeyEvent =
  | { readonly kind: 'attached' | 'changed' | 'detached'; readonly key: AttachedKey }
  | { readonly kind: 'status'; readonly status: DriverStatus };

/** Watches one kind of hardware. */
export interface Driver {
  readonly name: string;
  /** The current status. Also available before `start` and after `stop`. */
  status(): DriverStatus;
  /** The keys attached now, in the order in which they were attached. */
  keys(): readonly AttachedKey[];
  /**
   * Starts watching. Resolves after the first scan, with all keys found by it reported as `attached`, or as soon as the
   * driver turns out to be unavailable. Never rejects. An unavailable driver keeps trying and recovers by itself.
   */
  start(listener: (event: KeyEvent) => void): Promise<void>;
  /** Stops watching and releases every handle. Idempotent. No event follows after it has resolved. */
  stop(): Promise<void>;
}

/** One APDU or report on its way to (`out`) or from (`in`) a key. */
export interface TrafficLine {
  readonly driver: string;
  readonly keyId: string;
  readonly direction: 'out' | 'in';
  readonly bytes: Uint8Array;
}

/** Writes a log line about something that is not an event: a native error that was handled, a scan that was repeated. */
export type Notice = (message: string, detail?: Readonly<Record<string, unknown>>) => void;

/** Options that every driver has. */
export interface DriverOptions {
  /** Wall clock in milliseconds. Default: `Date.now`. */
  readonly now?: () => number;
  /** Receives all traffic with the keys. Default: none. */
  readonly traffic?: (line: TrafficLine) => void;
  /** Default: notices are dropped. */
  readonly notice?: Notice;
}

/** The reasons for which a hardware call can fail. The set is closed. */
export type HardwareErrorCode =
  | 'unavailable' // a library, a service, a reader or an interface of the key is missing
  | 'no-permission'
  | 'removed'
  | 'busy' // another program holds the key
  | 'mute' // the card did not answer to power: upside down, wrong type or dirty
  | 'timeout'
  | 'aborted'
  | 'protocol'; // the answer was not valid

/** Details for programs; texts for people are in the message. */
export interface HardwareErrorData {
  /** The name that the PC/SC binding gives the error, such as `ResetCard`. */
  readonly pcscError?: string;
}

/** The only error that a hardware call fails with. */
export class HardwareError extends Error {
  readonly code: HardwareErrorCode;
  readonly data: HardwareErrorData;

  constructor(code: HardwareErrorCode, message: string, options: ErrorOptions & { data?: HardwareErrorData } = {}) {
    super(message, options);
    this.name = 'HardwareError';
    this.code = code;
    this.data = options.data ?? {};
  }
}
