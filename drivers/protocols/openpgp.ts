/** The serial in the application id (AID) of an OpenPGP card. Source: OpenPGP application on ISO smart cards 3.4, 4.2.1. */
import { HardwareError } from '../hardware-error.ts';
import { commandApdu, INS, query, selectApplication } from './apdu.ts';
import type { CardConnection } from './connection.ts';
import { toHex } from './hex.ts';
import { checkedSerial } from './serial.ts';

/** Claims of an OpenPGP card. */
interface OpenPgp {
  /** Maker and number as card users write them: `0006:12345678`. */
  readonly serial: string;
  /** Null if the maker's number is not in the table. */
  readonly maker: string | null;
  /** Version of the OpenPGP card specification, such as `3.4`. */
  readonly version: string;
}

/** Makers by the number that the keeper of the specification assigned. */
const MAKERS: Readonly<Record<string, string>> = {
  '0005': 'ZeitControl',
  '0006': 'Yubico',
  '000F': 'Nitrokey',
  '0042': 'GnuPG e.V.',
  F1D0: 'CanoKeys',
  F517: 'FSIJ',
};

/** Registered part of the AID; version, maker and serial follow it. */
const OPENPGP_AID = 'D27600012401';
const AID_BYTES = 16;
const GET_AID = commandApdu({ ins: INS.GET_DATA, p1: 0x00, p2: 0x4f, le: 0 });

/** Reads the AID. Null if the card is not an OpenPGP card. Fails with a HardwareError. */
export async function readOpenPgp(card: CardConnection, signal: AbortSignal): Promise<OpenPgp | null> {
  if ((await query(card, selectApplication(OPENPGP_AID), signal)) === null) return null;
  const data = await query(card, GET_AID, signal);
  return data === null ? null : parseOpenPgp(data);
}

/** Parses the 16 bytes of the AID. Throws HardwareError `protocol` for anything else. */
export function parseOpenPgp(data: Uint8Array): OpenPgp {
  const hex = toHex(data);
  if (data.length !== AID_BYTES || !hex.startsWith(OPENPGP_AID)) {
    throw new HardwareError('protocol', 'the response of the card is not an OpenPGP identifier');
  }
  const maker = hex.slice(16, 20);
  const number = checkedSerial(hex.slice(20, 28), 'OpenPGP number');
  return { serial: `${maker}:${number}`, maker: MAKERS[maker] ?? null, version: `${data[6]}.${data[7]}` };
}
