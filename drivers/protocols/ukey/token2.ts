/** Token2 keys tell their serial on the smart card side alone. */
import { HardwareError } from '../../driver.ts';
import { select, transmitOk } from '../apdu.ts';
import type { CardConnection } from './connection.ts';
import type { Answer } from './sources.ts';

const APPLET = 'f00000014f747001';
const TAG_SERIAL = 0xd1;
/** A read of the serial: its tag and room for 16 bytes. */
const READ_SERIAL = Uint8Array.of(0x80, 0x33, 0, 0, 0x12, TAG_SERIAL, 0x10, ...new Uint8Array(16));

/** Tag, length and the serial in ASCII; zero bytes at its end are padding. Fails with HardwareError `protocol`. */
export function parseToken2Serial(bytes: Uint8Array): string | null {
  const length = bytes[1];
  if (bytes[0] !== TAG_SERIAL || length === undefined || length > bytes.length - 2) {
    throw new HardwareError('protocol', 'the serial is not in the form Token2 keys give it');
  }
  const padded = bytes.subarray(2, 2 + length);
  const serial = padded.subarray(0, padded.findLastIndex(byte => byte !== 0) + 1);
  return serial.length === 0 ? null : Buffer.from(serial).toString('latin1');
}

/** Fails with a HardwareError. */
export async function askToken2(card: CardConnection, signal: AbortSignal): Promise<Answer> {
  const bytes = (await select(card, APPLET, signal)) && (await transmitOk(card, READ_SERIAL, signal));
  return { serial: bytes === null ? null : parseToken2Serial(bytes), firmwareVersion: null };
}
