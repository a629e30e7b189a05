import { HardwareError } from '../driver.ts';
import type { CardConnection } from './ukey/connection.ts';

const OK = 0x9000;

/** The data of a response when its status is 9000, else null. Fails with HardwareError `protocol` on less than a status. */
export function okData(response: Uint8Array): Uint8Array | null {
  const at = response.length - 2;
  if (at < 0) throw new HardwareError('protocol', `the card answered with ${response.length} bytes`);
  return ((response[at]! << 8) | response[at + 1]!) === OK ? response.subarray(0, at) : null;
}

/** Sends a command; its data, or null where the card refuses it. Fails with a HardwareError. */
export async function transmitOk(
  card: CardConnection,
  apdu: Uint8Array,
  signal: AbortSignal,
): Promise<Uint8Array | null> {
  return okData(await card.transmit(apdu, signal));
}

/** Selects an applet by its AID in hex. */
export function select(card: CardConnection, aid: string, signal: AbortSignal): Promise<Uint8Array | null> {
  const bytes = Buffer.from(aid, 'hex');
  return transmitOk(card, Uint8Array.of(0, 0xa4, 4, 0, bytes.length, ...bytes), signal);
}
