/**
 * The connections that the protocols talk through: bytes in, bytes out. The transports implement them; tests feed them
 * bytes. Every call fails only with a HardwareError, and at once if its signal is already aborted.
 */

/** A connection that has to be closed. */
export interface Closable {
  /** May be called at any time and more than once. Never rejects. */
  close(): Promise<void>;
}

/** 64-byte reports in both directions, as CTAPHID uses them. Without the report number in front. */
export interface ReportConnection {
  write(report: Uint8Array, signal: AbortSignal): Promise<void>;
  /** The next report from the key. Waits until the signal is aborted. */
  read(signal: AbortSignal): Promise<Uint8Array>;
}

/** 8-byte feature reports, as the OTP interface of a YubiKey uses them. Without the report number in front. */
export interface FeatureConnection {
  sendFeature(report: Uint8Array, signal: AbortSignal): Promise<void>;
  getFeature(signal: AbortSignal): Promise<Uint8Array>;
}

/**
 * Command APDUs to a smart card and its response APDUs (data and two status bytes). After the signal is aborted no further
 * command is sent. Whether a command that was already sent can be cut short depends on the transport.
 */
export interface CardConnection {
  transmit(apdu: Uint8Array, signal: AbortSignal): Promise<Uint8Array>;
}

/** Messages to a FIDO authenticator, over whichever transport. */
export interface CtapChannel {
  /**
   * The response to a command, or null if the key does not support the command. Fails with a HardwareError; if the signal is
   * aborted in the meantime, the key is asked to stop. Throws a RangeError for a command that must never be sent.
   */
  call(
    command: number,
    payload: Uint8Array,
    signal: AbortSignal,
    onKeepalive?: (status: number) => void,
  ): Promise<Uint8Array | null>;
}
