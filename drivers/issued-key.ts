/** A key that is issued: what is asked of it, and what it reports. */

/** State of the PIN of the key. */
export interface PinState {
  readonly isSet: boolean;
  /** Wrong entries that are left before the key blocks its PIN; null if none is set. */
  readonly retries: number | null;
  /** It accepts no further entry before it is plugged in again. */
  readonly needsReplug: boolean;
  /** Code points that a PIN has at least. */
  readonly minLength: number;
  /** The key refuses PINs that it finds too simple. */
  readonly refusesSimple: boolean;
  /** The PIN has to be replaced before it opens anything. */
  readonly mustChange: boolean;
  /** Whether the key can keep `PinRules`. */
  readonly canKeepRules: boolean;
  /** Credentials that can still be stored; null if the key does not say it. */
  readonly freeCredentials: number | null;
}

/** Rules for the PIN that a key keeps. */
export interface PinRules {
  /** Code points. */
  readonly minLength?: number;
  /** The person has to replace the PIN before it opens anything. */
  readonly forceChange?: boolean;
}

/** A credential for sign-in at a provider, which the key stores: the members of WebAuthn's creation options that reach a key. */
export interface StoredCredentialRequest {
  /** 32 bytes. */
  readonly clientDataHash: Uint8Array;
  readonly relyingParty: { readonly id: string; readonly name: string };
  readonly user: { readonly id: Uint8Array; readonly name: string; readonly displayName: string };
  /** COSE algorithms, the preferred one first. */
  readonly algorithms: readonly number[];
  /** Ids of credentials of the same person at the provider: a key that has one of them makes no other. */
  readonly exclude: readonly Uint8Array[];
  /** Extension credProtect. 1: no PIN needed to use it, 2: a PIN or the id of the credential, 3: always a PIN. Null: the key's default. */
  readonly protection: 1 | 2 | 3 | null;
  /** Without the attestation of the key. */
  readonly isAnonymous?: boolean;
  /** Asks for an attestation that names the unit. */
  readonly enterprise: boolean;
}

/** A credential that a key has stored. */
export interface StoredCredential {
  /** As WebAuthn defines it (6.5), with the attestation as the key has signed it, or without it. */
  readonly attestationObject: Uint8Array;
  readonly credentialId: Uint8Array;
}

/**
 * A key that is issued: the only way to send a PIN or to store something on a key. A PIN is UTF-8 of at most 63 bytes, is entered
 * once for each call, and is never kept: its owner overwrites it. All calls fail with a HardwareError.
 */
export interface IssuedKey {
  pinState(): Promise<PinState>;
  /** Whether it has one of these credentials, without a touch or a PIN; null: it does not report any without a PIN. */
  hasAny(credentials: readonly KeyCredential[]): Promise<boolean | null>;
  /** Sets the PIN of a key that has none. */
  setPin(pin: Uint8Array): Promise<void>;
  /** Needs `PinState.canKeepRules`. */
  setPinRules(rules: PinRules, pin: Uint8Array): Promise<void>;
  /** Needs a touch. `pin` null: without user verification, which a key that has a PIN refuses. */
  makeCredential(request: StoredCredentialRequest, pin: Uint8Array | null): Promise<StoredCredential>;
  /** Removes a credential from the key. Succeeds if the key does not have it. */
  deleteCredential(credentialId: Uint8Array, pin: Uint8Array): Promise<void>;
  /** Erases credentials and PIN. Needs a touch within 10 s after the key was plugged in, and `mayReset`. */
  reset(): Promise<void>;
}

/** A credential that a key may store. */
export interface KeyCredential {
  readonly relyingParty: string;
  readonly id: Uint8Array;
}

/** How the issuing of a key is accompanied. */
export interface IssueWork {
  /** Ends it; the key then stops waiting for a touch. */
  readonly signal: AbortSignal;
  /** Called each time the key waits for a touch. */
  readonly onTouch: () => void;
  /** The operator has confirmed that the key is erased. */
  readonly mayReset?: boolean;
}
