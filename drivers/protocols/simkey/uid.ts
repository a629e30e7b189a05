import { HardwareError } from '../../driver.ts';
import { exchange, succeeded } from '../exchange.ts';
import { fromHex, toHex } from '../hex.ts';
import type { Connection } from './connection.ts';
import { checkedSerial } from './serial.ts';

/** Asks the reader for the UID of a contactless card. Null: it has none to tell. */
export async function readUid(connection: Connection, signal: AbortSignal): Promise<string | null> {
  const answer = await exchange(connection, fromHex('FFCA000000'), signal);
  return succeeded(answer) ? parseUid(answer.data) : null;
}

/** The UID in hex digits. Throws `protocol` for a length no card has, and for one that changes at each tap. */
export function parseUid(data: Uint8Array): string {
  if (![4, 7, 8, 10].includes(data.length)) {
    throw new HardwareError('protocol', `the UID is ${data.length} bytes, a length no card has`);
  }
  if (data.length === 4 && data[0] === 0x08) {
    throw new HardwareError('protocol', 'the UID is drawn anew at each tap and names no card');
  }
  return checkedSerial(toHex(data), 'UID');
}
