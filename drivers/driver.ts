import type { IssuedKey, IssueWork } from './issued-key.ts';

/** UKEY: a USB security key. SIMKEY: a SIM card or another smart card in a reader. */
export type KeyType = 'UKEY' | 'SIMKEY';
/** The system interface a key was found through. */
export type Transport = 'HID' | 'PCSC';

/** The texts that most keys do not report: a driver that can read one states it after these. */
export const unreported = { hardwareVersion: null, firmwareVersion: null } as const;

/** One physical key from the moment it is plugged in until it is unplugged. All texts have passed `cleanText`. */
export interface AttachedKey extends Readonly<Record<keyof typeof unreported, string | null>> {
  /** Opaque. A key that is unplugged and plugged in again gets a new one. Never a path of the operating system. */
  readonly keyId: string;
  readonly deviceType: KeyType;
  /** The serial number as it would be registered; null if none can be read (`problem` explains why). */
  readonly serialNumber: string | null;
  /** How the serial was read: `usb-descriptor`, `yubikey-management`, `yubikey-otp`, `trussed-uuid`, `iccid`, `eid`, `cplc`, … */
  readonly serialSource: string | null;
  readonly manufacturer: string | null;
  readonly model: string | null;
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
  /** Claims of the key about itself. They prove nothing. Empty until it was read, some 300 ms after the key was reported. */
  readonly claims: KeyClaims;
}

/**
 * Claims of a key about itself, read without a touch or a PIN. Absent: the key did not report it. Texts have passed `cleanText` and have
 * at most 256 characters; lists have at most 32 items.
 */
export interface KeyClaims {
  /** A UUID in lower case; names a model. */
  readonly aaguid?: string;
  readonly firmware?: string;
  readonly formFactor?: string;
  readonly fips?: boolean;
  readonly partNumber?: string;
  readonly versionQualifier?: string;
  readonly certifications?: Record<string, number>;
  readonly attestationFormats?: string[];
  readonly options?: Record<string, boolean>;
  /** `ok`, or the errors that Trussed firmware found at its start. */
  readonly trussedStatus?: string;
  /** Hardware variant of a Trussed key. */
  readonly variant?: string;
  readonly eid?: string;
  /** EUICCInfo1 in hex. */
  readonly euiccInfo?: string;
  /** Answer to reset in hex. */
  readonly atr?: string;
  /** Production data of a card in hex. */
  readonly cplc?: string;
}

/** How a key can prove what it is: by SCP11b over its smart card interface, or by a FIDO registration, which needs a touch. */
export type EvidenceMethod = 'scp11b' | 'fido';

/** Request for a proof. */
export interface ProofRequest {
  /** Null: SCP11b if the key has it, else FIDO. */
  readonly method: EvidenceMethod | null;
  /** For SCP11b: an uncompressed point of P-256, 65 bytes. */
  readonly hostPublicKey: Uint8Array;
  /** For FIDO: what the key signs, 32 bytes. */
  readonly clientDataHash: Uint8Array;
  /** For FIDO: the id of the relying party. */
  readonly relyingParty: string;
  /** The ids of credentials that the key made for the relying party: it signs with one of them, and `method` does not matter. */
  readonly credentials?: readonly Uint8Array[];
}

/** Answer of a key to a request for a proof. The drivers do not judge it. */
export type KeyEvidence =
  | {
      readonly method: 'scp11b';
      /** Version of the key of the card. */
      readonly kvn: number;
      /** Certificates in DER, leaf last. */
      readonly chain: readonly Uint8Array[];
      readonly cardPublicKey: Uint8Array;
      readonly receipt: Uint8Array;
    }
  /** The response to makeCredential without its status. */
  | { readonly method: 'fido'; readonly attestationObject: Uint8Array }
  /** The response to U2F_REGISTER without its status word. */
  | { readonly method: 'u2f'; readonly registration: Uint8Array }
  | ({ readonly method: 'assertion' } & KeyAssertion);

/** Signature of a key with a credential. */
export interface KeyAssertion {
  readonly credentialId: Uint8Array;
  readonly authenticatorData: Uint8Array;
  /** ECDSA in DER. */
  readonly signature: Uint8Array;
}

/** Text to sign, and the credentials of a relying party that the key may use. */
export interface AssertionRequest {
  /** 32 bytes. */
  readonly clientDataHash: Uint8Array;
  readonly relyingParty: string;
  readonly credentials: readonly Uint8Array[];
}

/** The credential by which a key was recognized. */
export interface RecognizedKey {
  readonly credentialId: Uint8Array;
  /** Signed without a touch. Null: U2F, where a key reports only that it has the credential. */
  readonly assertion: KeyAssertion | null;
}

/** How a proof is accompanied. */
export interface ProofWork {
  /** Ends the proof; the key then stops waiting for a touch. */
  readonly signal: AbortSignal;
  /** Called once if the key waits for a touch. */
  readonly onTouch: () => void;
}

/** Whether a driver works at the moment. */
export interface DriverStatus {
  readonly name: string;
  readonly state: 'ready' | 'unavailable';
  /** Watched hardware, or the missing part and its fix. Never empty. */
  readonly detail: string;
}

/**
 * `attached` comes once per key, after the key was identified or after the driver gave up (`problem`).
 * `changed` comes when a later read of the same key gives another result: a second interface appeared, or a permission
 * was granted. Each `attached` is followed by one `detached`. If the driver has become unavailable, `detached`
 * means only that the key is no longer watched.
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
   * driver turns out to be unavailable. Never rejects. An unavailable driver keeps trying and recovers automatically.
   */
  start(listener: (event: KeyEvent) => void): Promise<void>;
  /**
   * Has an attached key prove what it is, or sign with a credential, within 30 s. Sends no PIN and changes nothing on the key. Fails with a
   * HardwareError whose message is one sentence for the operator.
   */
  prove(keyId: string, request: ProofRequest, work: ProofWork): Promise<KeyEvidence>;
  /**
   * Asks an attached key which of these credentials it has, without a touch; null if it has none. Only credentials of devmgr are asked
   * for: any other relying party is a RangeError. Fails with a HardwareError. Absent: the keys of this driver have no credentials.
   */
  recognize?(keyId: string, question: AssertionRequest, signal: AbortSignal): Promise<RecognizedKey | null>;
  /**
   * Runs the task with an attached key that is issued. The driver has no other use for the key in that time. Fails with a
   * HardwareError, or with the error of the task. Absent: the keys of this driver cannot be issued.
   */
  issue?<T>(keyId: string, work: IssueWork, task: (key: IssuedKey) => Promise<T>): Promise<T>;
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
