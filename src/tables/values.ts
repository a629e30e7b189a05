/** Values of cells that are not what they seem: opaque ids, texts that a spreadsheet has wrapped, and zeros that it has dropped. */
import { cellText } from '../contract/csv.ts';

const uuid = /^\{?[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}\}?$/i;

/**
 * Whether a value looks like an id that a system has made: of Okta (`00u…`), a UUID, a number. Such a value is never a login. In a
 * column that is named `userId`, as the lists of devmgr are, a number is one: that of the personnel.
 */
export function isOpaqueId(text: string, column: string): boolean {
  const id = text.trim();
  return (/^\d+$/.test(id) && column.trim() !== 'userId') || /^00u\w+$/.test(id) || uuid.test(id);
}

/** The text of a cell: without the apostrophe before a formula, and without `="…"`, which keeps the zeros of a number in Excel. */
export function textOfCell(cell: string): string {
  const text = cellText(cell);
  const wrapped = text.startsWith('="') || text.startsWith('\'="') ? /^'?="([^"]*)"$/.exec(text.trim()) : null;
  return wrapped === null ? text : wrapped[1]!;
}

/** Serial numbers are the same key if they differ in case or in leading zeros alone. */
export const serialKey = (serial: string): string =>
  serial
    .trim()
    .toLowerCase()
    .replace(/^0+(?=.)/, '');

const digits = /^\d+$/;
/** Fewer numbers show no length that all of them have. */
const FEWEST = 3;

/** Digits of the numbers in a column of numbers of one length; null for any other column. */
export function usualDigits(texts: readonly string[]): number | null {
  const numbers = texts.map(text => text.trim()).filter(text => digits.test(text));
  if (numbers.length < FEWEST || numbers.length < texts.length * 0.9) return null;
  const lengths = Object.entries(Object.groupBy(numbers, number => number.length));
  const [length, same] = lengths.reduce((most, other) => (other[1]!.length > most[1]!.length ? other : most));
  return same!.length >= numbers.length * 0.7 ? Number(length) : null;
}

/** Whether a number may have lost leading zeros: it is shorter than the others of its column. */
export const mayLackZeros = (text: string, usual: number | null): boolean =>
  usual !== null && digits.test(text.trim()) && text.trim().length < usual;
