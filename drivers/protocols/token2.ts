/**
 * Token2 keys report their serial only over the smart card interface: CTAPHID command 41 returns an ATR. Medium confidence,
 * no public source.
 */
import { HardwareError } from '../hardware-error.ts';
import { CLA, commandApdu, query, selectApplication } from './apdu.ts';
import type { CardConnection } from './connection.ts';
import type { KeyReport } from './key-view.ts';

const TOKEN2_AID = 'F00000014F747001';
const INS_READ_SERIAL = 0x33;
const TAG_SERIAL = 0xd1;
/** The command carries the tag and room for this many bytes. */
const SERIAL_ROOM = 0x10;
const READ_SERIAL = commandApdu({
  cla: CLA.PROPRIETARY,
  ins: INS_READ_SERIAL,
  data: Uint8Array.of(TAG_SERIAL, SERIAL_ROOM, ...new Uint8Array(SERIAL_ROOM)),
});

/** Parses tag, length and the serial in ASCII. Zero bytes at its end are padding. Throws HardwareError `protocol`. */
export function parseToken2Serial(bytes: Uint8Array): string | null {
  const [tag, length] = bytes;
  if (tag !== TAG_SERIAL || length === undefined || length > bytes.length - 2) {
    throw new HardwareError('protocol', 'the response is not a Token2 serial');
  }
  const padded = bytes.subarray(2, 2 + length);
  const serial = padded.subarray(0, padded.findLastIndex(byte => byte !== 0) + 1);
  return serial.length === 0 ? null : Buffer.from(serial).toString('latin1');
}

/** Reads the serial over the smart card interface. Fails with a HardwareError. */
export async function readToken2(card: CardConnection, signal: AbortSignal): Promise<KeyReport> {
  const selected = await query(card, selectApplication(TOKEN2_AID), signal);
  const serial = selected && (await query(card, READ_SERIAL, signal));
  return { serial: serial && parseToken2Serial(serial), firmwareVersion: null };
}
