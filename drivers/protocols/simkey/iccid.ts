import { HardwareError } from '../../driver.ts';
import { exchange, succeeded } from '../exchange.ts';
import { fromHex, toHex } from '../hex.ts';
import type { Connection } from './connection.ts';
import { checkedSerial } from './serial.ts';

export interface Iccid {
  /** Digits as printed on the card; some issuers use the letters A to E among them. */
  readonly digits: string;
  /** False where the check digit contradicts the others. Issuers exist that do not compute it, so it is still the serial. */
  readonly checked: boolean;
}

/** The two generations of SIM: class byte and the second parameter their SELECT wants. */
const GENERATIONS = [
  { model: 'UICC', class_: 0x00, select: 0x04 },
  { model: 'SIM', class_: 0xa0, select: 0x00 },
] as const;

export type SimModel = (typeof GENERATIONS)[number]['model'];

/** Reads EF_ICCID. Null: the card is no SIM. */
export async function readIccid(
  connection: Connection,
  signal: AbortSignal,
): Promise<(Iccid & { readonly model: SimModel }) | null> {
  for (const { model, class_, select } of GENERATIONS) {
    const selectFile = (id: string) => Uint8Array.of(class_, 0xa4, 0x00, select, 0x02, ...fromHex(id));
    const root = await exchange(connection, selectFile('3F00'), signal);
    if (!selected(root.status)) continue;
    const file = await exchange(connection, selectFile('2FE2'), signal);
    if (!selected(file.status)) continue;
    const content = await exchange(connection, Uint8Array.of(class_, 0xb0, 0x00, 0x00, 0x0a), signal);
    if (succeeded(content)) return { ...parseIccid(content.data), model };
  }
  return null;
}

/** Selected, with or without a warning about the file. */
function selected(status: number): boolean {
  return status === 0x9000 || status >> 8 === 0x91 || status >> 8 === 0x62;
}

/** The number in the 10 bytes of EF_ICCID: nibbles swapped, filled up with F. Throws `protocol` for anything else. */
export function parseIccid(content: Uint8Array): Iccid {
  if (content.length !== 10) {
    throw new HardwareError('protocol', `the ICCID file holds ${content.length} bytes instead of 10`);
  }
  const swapped = toHex(content).replace(/(.)(.)/g, '$2$1');
  const digits = swapped.replace(/^F{1,20}|F{1,20}$/g, '');
  if (digits === '') throw new HardwareError('protocol', 'the ICCID file is empty: the card was not personalised');
  const whole = /^\d{18}$/.test(digits) ? digits + luhnDigit(digits) : digits;
  return { digits: checkedSerial(whole, 'ICCID'), checked: !/^\d{19}$/.test(whole) || luhnHolds(whole) };
}

/** The digit that makes `digits` and itself pass the Luhn check. */
export function luhnDigit(digits: string): string {
  let sum = 0;
  [...digits].reverse().forEach((digit, index) => {
    const doubled = Number(digit) * (index % 2 === 0 ? 2 : 1);
    sum += doubled > 9 ? doubled - 9 : doubled;
  });
  return String((10 - (sum % 10)) % 10);
}

export function luhnHolds(digits: string): boolean {
  return luhnDigit(digits.slice(0, -1)) === digits.at(-1);
}
