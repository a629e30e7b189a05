/** Serial numbers that a spreadsheet has changed, that are numbers of SIM cards, or that are secrets. No I/O. */
import { cardNumber, isCardNumber, isCheckDigitRight } from '../contract/iccid.ts';
import type { DeviceType } from '../contract/values.ts';

/** Significant digits of a number in a spreadsheet: further ones become zeros. */
const KEPT = 15;
/** One lost digit is a zero in one number of ten: such numbers are not suspected. */
const LEAST_LOST = 2;

const asText = 'Export the column as text';
/** Short names of months in English and German. */
const months: ReadonlySet<string> = new Set(
  'jan feb mar mär mrz apr mai may jun jul aug sep oct okt nov dec dez'.split(' '),
);

/** Why a serial number of a file or of a command line is not taken, in words after its name; null if it is. */
export function damageOf(serial: string): string | null {
  if (/^[+-]?\d([.,]\d+)?E\+\d+$/i.test(serial) || /^\d[.,]\d+E\d+$/i.test(serial))
    return `is a number in scientific notation, whose last digits a spreadsheet has dropped. ${asText}`;
  if (isRounded(serial)) return `has lost its last digits: a spreadsheet keeps ${KEPT} digits of a number. ${asText}`;
  if (isDate(serial)) return `is a date, which a spreadsheet has made of it. ${asText}`;
  if (/^\d{1,3}([.,'’ \u00a0\u202f]\d{3})+$/.test(serial)) return `has thousands separators. ${asText}`;
  if (/^\d+[.,]0+$/.test(serial)) return `is a decimal number, which a spreadsheet has made of it. ${asText}`;
  return null;
}

const isRounded = (serial: string): boolean =>
  /^[1-9]\d*$/.test(serial) && serial.length >= KEPT + LEAST_LOST && /^0+$/.test(serial.slice(KEPT));

/** A date as a spreadsheet writes it, with or without a time: 12/03/2026, 2026-03-12 09:41, 12-Mar-26, Mar-26. */
function isDate(serial: string): boolean {
  const [date = ''] = serial.split(/[ T]/);
  const [first = '', second = '', third] = date
    .toLowerCase()
    .split(/[./-]/)
    .map(part => part.replace(/\.$/, ''));
  const isYear = (text: string) => /^(19|20)\d\d$/.test(text);
  const isDay = (text: string) => /^\d{1,2}$/.test(text) && Number(text) >= 1 && Number(text) <= 31;
  const isShortYear = (text: string) => isYear(text) || /^\d\d$/.test(text);
  if (third === undefined)
    return isWrittenMonth(date) && (months.has(first) ? isShortYear(second) : isDay(first) && months.has(second));
  if (date.split(/[./-]/).length > 3) return false;
  if (isDay(first) && months.has(second)) return isShortYear(third);
  if (isYear(first)) return isDay(second) && isDay(third);
  return isDay(first) && isDay(second) && (Number(first) <= 12 || Number(second) <= 12) && isYear(third);
}

/** Spreadsheets write `Mar-26`; a serial number has capitals. */
const isWrittenMonth = (date: string): boolean => /[A-Z]/.test(date) && date !== date.toUpperCase();

/** The serial number of a row, as far as it is known. */
export interface SerialContext {
  readonly deviceType: DeviceType | unknown;
  /** Name of its column or property; empty if it has none. */
  readonly column: string;
  /** The row has secrets: one may be in the place of the serial number. */
  readonly hasSecrets: boolean;
  /** A person takes the serial numbers as they are. */
  readonly asIs: boolean;
}

/** The serial number that is registered for `serial`, or why none is. */
export function judgedSerial(
  serial: string,
  { deviceType, column, hasSecrets, asIs }: SerialContext,
): { readonly serial: string } | { readonly problem: string } {
  if (hasSecrets && isKeyMaterial(serial))
    return { problem: 'may be a key: it has 32 hexadecimal digits, and the file has a column of secrets' };
  if (hasSecrets && isCardColumn(column) && !isCardNumber(serial))
    return { problem: 'is not the number of a SIM card, and may be a code: the file has a column of secrets' };
  if (asIs) return { serial };
  const problem = damageOf(serial);
  if (problem !== null) return { problem };
  const isCard = deviceType === 'SIMKEY' || isCardColumn(column);
  if (!isCard) return { serial };
  const bare = cardNumber(serial);
  if (bare.startsWith('89') && !isCheckDigitRight(bare))
    return { problem: 'is not the number of a SIM card: its check digit is wrong. Compare it with the card' };
  return { serial: bare };
}

const isCardColumn = (name: string): boolean => /iccid/i.test(name);

/** A key of at least 128 bits. The number of an eSIM (EID, SGP.02) has 32 decimal digits: one random key in 300 million looks like it. */
const isKeyMaterial = (serial: string): boolean => /^[0-9a-f]{32,}$/i.test(serial) && !/^89\d{30}$/.test(serial);
