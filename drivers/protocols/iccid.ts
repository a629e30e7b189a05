/** The ICCID of a SIM card. Sources: ETSI TS 102 221 (EF_ICCID), TS 151 011 (class A0), ITU-T E.118 (check digit). */
import { HardwareError } from '../hardware-error.ts';
import { CLA, commandApdu, exchange, INS, query, SELECT_BY, SW, SW1 } from './apdu.ts';
import type { CardConnection } from './connection.ts';
import { fromHex, toHex } from './hex.ts';
import { checkedSerial } from './serial.ts';

/** The number of a SIM card. */
interface Iccid {
  /** The digits as printed on the card. Some issuers use the letters A to E among them. */
  readonly digits: string;
  /** False if the check digit contradicts the others. Some issuers do not compute it, so the number is still the serial. */
  readonly checked: boolean;
}

const MASTER_FILE = fromHex('3F00');
const EF_ICCID = fromHex('2FE2');
const ICCID_BYTES = 10;
const INDUSTRY = '89';

/** The two generations of SIM, with the class byte and the P2 that their SELECT needs (04: return FCP; 00 in class A0). */
const GENERATIONS = [
  { model: 'UICC', cla: CLA.ISO, selectP2: 0x04 },
  { model: 'SIM', cla: CLA.CLASSIC_SIM, selectP2: 0x00 },
] as const;

/** `UICC` for a SIM of today, `SIM` for one of the second generation. */
type SimModel = (typeof GENERATIONS)[number]['model'];

/** Reads EF_ICCID. Null if the card is not a SIM. Fails with a HardwareError. */
export async function readIccid(
  card: CardConnection,
  signal: AbortSignal,
): Promise<(Iccid & { readonly model: SimModel }) | null> {
  for (const { model, cla, selectP2 } of GENERATIONS) {
    const select = async (file: Uint8Array): Promise<boolean> => {
      const command = commandApdu({ cla, ins: INS.SELECT, p1: SELECT_BY.FILE_ID, p2: selectP2, data: file });
      return isSelected((await exchange(card, command, signal)).status);
    };
    if (!(await select(MASTER_FILE)) || !(await select(EF_ICCID))) continue;
    const content = await query(card, commandApdu({ cla, ins: INS.READ_BINARY, le: ICCID_BYTES }), signal);
    if (content !== null) return { ...parseIccid(content), model };
  }
  return null;
}

/** Selected, possibly with a warning about the file. */
function isSelected(status: number): boolean {
  return status === SW.OK || status >> 8 === SW1.OK_PROACTIVE || status >> 8 === SW1.WARNING;
}

/**
 * Parses the 10 bytes of EF_ICCID: swapped nibbles, padded with F; digits that were not swapped are recognized. Throws HardwareError
 * `protocol` for anything else.
 */
export function parseIccid(content: Uint8Array): Iccid {
  if (content.length !== ICCID_BYTES) {
    throw new HardwareError('protocol', `the ICCID file has ${content.length} bytes instead of ${ICCID_BYTES}`);
  }
  const written = toHex(content);
  const swapped = written.replace(/(.)(.)/g, '$2$1');
  // Some issuers do not swap the digits. Each number begins with 89, the industry of telecommunications (E.118).
  const isSwapped = swapped.startsWith(INDUSTRY) || !written.startsWith(INDUSTRY);
  const digits = (isSwapped ? swapped : written).replace(/^F{1,20}|F{1,20}$/g, '');
  if (digits === '') throw new HardwareError('protocol', 'the ICCID file is empty: the card was not personalized');
  const complete = /^\d{18}$/.test(digits) ? digits + luhnDigit(digits) : digits;
  return { digits: checkedSerial(complete, 'ICCID'), checked: !/^\d{19}$/.test(complete) || isLuhnValid(complete) };
}

/** The digit that, appended to `digits`, makes the Luhn check pass. */
export function luhnDigit(digits: string): string {
  let sum = 0;
  [...digits].reverse().forEach((digit, index) => {
    const doubled = Number(digit) * (index % 2 === 0 ? 2 : 1);
    sum += doubled > 9 ? doubled - 9 : doubled;
  });
  return String((10 - (sum % 10)) % 10);
}

/** Whether the last digit is the Luhn digit of the others. */
export function isLuhnValid(digits: string): boolean {
  return luhnDigit(digits.slice(0, -1)) === digits.at(-1);
}
