/** Card production life cycle (CPLC) data. Source: GlobalPlatform Card Specification, GET DATA with tag 9F7F. */
import { HardwareError } from '../hardware-error.ts';
import { CLA, commandApdu, INS, query } from './apdu.ts';
import type { CardConnection } from './connection.ts';
import { toHex } from './hex.ts';

/** Identity of a chip. */
interface Cplc {
  /** IC fabricator, type, fabrication date, serial and batch, 24 hex digits: together they identify one chip. */
  readonly serial: string;
  /** Name of the chip maker; null if its number is not in the table. */
  readonly fabricator: string | null;
}

/** Chip makers by their IC fabricator number. */
const FABRICATORS: Readonly<Record<string, string>> = {
  '3060': 'Renesas',
  '4090': 'Infineon',
  '4180': 'Atmel',
  '4250': 'Samsung',
  '4790': 'NXP',
};

const CPLC_BYTES = 42;
/** Tag 9F7F and the length. */
const TAG = '9F7F2A';
const TAG_BYTES = TAG.length / 2;

/** Offset and length of the fields, in bytes. */
const FIELDS = { fabricator: [0, 2], type: [2, 2], date: [10, 2], serial: [12, 4], batch: [16, 2] } as const;

/** Reads the CPLC data. Null if the card has none. Fails with a HardwareError. */
export async function readCplc(card: CardConnection, signal: AbortSignal): Promise<Cplc | null> {
  const data = await readCplcBytes(card, signal);
  return data && parseCplc(data);
}

/** The CPLC data as the card gives them. Null if it has none. Fails with a HardwareError. */
export async function readCplcBytes(card: CardConnection, signal: AbortSignal): Promise<Uint8Array | null> {
  for (const cla of [CLA.PROPRIETARY, CLA.ISO]) {
    const data = await query(card, commandApdu({ cla, ins: INS.GET_DATA, p1: 0x9f, p2: 0x7f, le: 0 }), signal);
    if (data !== null) return data;
  }
  return null;
}

/** Parses the 42 bytes, with or without the tag 9F7F in front. Throws HardwareError `protocol` for anything else. */
export function parseCplc(data: Uint8Array): Cplc {
  const tagged = data.length === CPLC_BYTES + TAG_BYTES && toHex(data.subarray(0, TAG_BYTES)) === TAG;
  const body = tagged ? data.subarray(TAG_BYTES) : data;
  if (body.length !== CPLC_BYTES) {
    throw new HardwareError('protocol', `the production data has ${body.length} bytes instead of ${CPLC_BYTES}`);
  }
  const field = ([at, length]: readonly [number, number]): string => toHex(body.subarray(at, at + length));
  const { fabricator, type, date, serial, batch } = FIELDS;
  if (/^(0+|F+)$/.test(field(serial))) {
    throw new HardwareError('protocol', 'the production data contains no serial of the chip');
  }
  return {
    serial: [fabricator, type, date, serial, batch].map(field).join(''),
    fabricator: FABRICATORS[field(fabricator)] ?? null,
  };
}
