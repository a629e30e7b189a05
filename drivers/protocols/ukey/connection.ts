/**
 * What the key protocols talk through: bytes in, bytes out. The transports implement these; tests feed them bytes.
 * Every call fails with a HardwareError alone, and at once when its signal is aborted.
 */

/** 64-byte reports both ways, as CTAPHID uses them. No report number in front. */
export interface ReportConnection {
  write(report: Uint8Array, signal: AbortSignal): Promise<void>;
  /** The next report the key sent, waited for until the signal is aborted. */
  read(signal: AbortSignal): Promise<Uint8Array>;
}

/** 8-byte feature reports, as a YubiKey's OTP interface uses them. No report number in front. */
export interface FeatureConnection {
  sendFeature(report: Uint8Array, signal: AbortSignal): Promise<void>;
  getFeature(signal: AbortSignal): Promise<Uint8Array>;
}

/** Command and response APDUs of a key's smart card side. The response ends in its two status bytes. */
export interface CardConnection {
  transmit(apdu: Uint8Array, signal: AbortSignal): Promise<Uint8Array>;
}
