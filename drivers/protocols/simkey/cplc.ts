import { HardwareError } from '../../driver.ts';
import { exchange, succeeded } from '../exchange.ts';
import { fromHex, toHex } from '../hex.ts';
import type { Connection } from './connection.ts';

export interface Cplc {
  /** Fabricator, type, fabrication date, serial and batch of the chip, 24 hex digits: together they name one chip. */
  readonly serial: string;
  readonly fabricator: string | null;
}

/** Chip makers by the number they have in the production data. */
const FABRICATORS: Readonly<Record<string, string>> = {
  '3060': 'Renesas',
  '4090': 'Infineon',
  '4180': 'Atmel',
  '4250': 'Samsung',
  '4790': 'NXP',
};

const LENGTH = 42;

/** Reads the card production life cycle data of a GlobalPlatform card. Null: the card has none. */
export async function readCplc(connection: Connection, signal: AbortSignal): Promise<Cplc | null> {
  for (const command of ['80CA9F7F00', '00CA9F7F00']) {
    const answer = await exchange(connection, fromHex(command), signal);
    if (succeeded(answer)) return parseCplc(answer.data);
  }
  return null;
}

/** Parses the 42 bytes, with or without their tag 9F7F. Throws `protocol` for anything else. */
export function parseCplc(data: Uint8Array): Cplc {
  const tagged = data.length === LENGTH + 3 && toHex(data.subarray(0, 3)) === '9F7F2A';
  const body = tagged ? data.subarray(3) : data;
  if (body.length !== LENGTH) {
    throw new HardwareError('protocol', `the production data are ${body.length} bytes instead of ${LENGTH}`);
  }
  const [fabricator, type, date] = [field(body, 0, 2), field(body, 2, 2), field(body, 10, 2)];
  const [chip, batch] = [field(body, 12, 4), field(body, 16, 2)];
  if (/^(0+|F+)$/.test(chip)) {
    throw new HardwareError('protocol', 'the chip has no serial in its production data, which other cards share');
  }
  return { serial: fabricator + type + date + chip + batch, fabricator: FABRICATORS[fabricator] ?? null };
}

function field(body: Uint8Array, offset: number, length: number): string {
  return toHex(body.subarray(offset, offset + length));
}
