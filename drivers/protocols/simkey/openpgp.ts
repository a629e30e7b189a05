import { HardwareError } from '../../driver.ts';
import { exchange, succeeded } from '../exchange.ts';
import { fromHex, toHex } from '../hex.ts';
import type { Connection } from './connection.ts';
import { checkedSerial } from './serial.ts';

export interface OpenPgp {
  /** Maker and number as card users write them: `0006:12345678`. */
  readonly serial: string;
  readonly maker: string | null;
  /** Version of the OpenPGP card specification, such as `3.4`. */
  readonly version: string;
}

/** Makers by the number the specification's keeper gave them. */
const MAKERS: Readonly<Record<string, string>> = {
  '0005': 'ZeitControl',
  '0006': 'Yubico',
  '000F': 'Nitrokey',
  '0042': 'GnuPG e.V.',
  F1D0: 'CanoKeys',
  F517: 'FSIJ',
};

const APPLICATION = 'D27600012401';

/** Reads the application identifier of an OpenPGP card. Null: the card is none. */
export async function readOpenPgp(connection: Connection, signal: AbortSignal): Promise<OpenPgp | null> {
  const selected = await exchange(connection, fromHex(`00A4040006${APPLICATION}`), signal);
  if (!succeeded(selected)) return null;
  const answer = await exchange(connection, fromHex('00CA004F00'), signal);
  return succeeded(answer) ? parseOpenPgp(answer.data) : null;
}

/** Parses the 16 bytes of the identifier. Throws `protocol` for anything else. */
export function parseOpenPgp(data: Uint8Array): OpenPgp {
  const hex = toHex(data);
  if (data.length !== 16 || !hex.startsWith(APPLICATION)) {
    throw new HardwareError('protocol', 'the card answered something else than an OpenPGP identifier');
  }
  const maker = hex.slice(16, 20);
  const number = checkedSerial(hex.slice(20, 28), 'OpenPGP number');
  return { serial: `${maker}:${number}`, maker: MAKERS[maker] ?? null, version: `${data[6]}.${data[7]}` };
}
