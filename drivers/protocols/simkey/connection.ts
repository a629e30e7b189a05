/**
 * A line to one card: command bytes out, answer bytes (data and two status bytes) in. Rejects with a HardwareError alone.
 * Once the signal is aborted no further command is sent; whether a command under way can be cut short is the transport's
 * matter, so a caller with a deadline has to keep it by itself.
 */
export interface Connection {
  transmit(apdu: Uint8Array, signal: AbortSignal): Promise<Uint8Array>;
}
