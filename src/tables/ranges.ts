/** Ranges of serial numbers: `20470001-20470500` in one cell, or the first and the last number in two. */
import { checkDigitsLike } from '../contract/iccid.ts';
import { textLengths } from '../contract/limits.ts';
import type { TableRow } from './table-row.ts';

/** Serial numbers of one range. A larger one is a typing error. */
export const mostInRange = 100_000;

/** Digits of the numbers of a range in one cell: 1-2 is a serial number. */
const FEWEST = 4;

/** Fields of a range: a file of shipments has them in place of the serial number. */
export type RangeField = 'serialNumber' | 'firstSerial' | 'lastSerial' | 'count';

/** A range, or why it is none. */
type Range = { readonly serials: Iterable<string>; readonly count: number } | { readonly problem: string };

const written = /^([a-z]{0,20})(\d{1,30}) ?(?:-|–|\.\.) ?([a-z]{0,20})(\d{1,30})$/i;

/** The row itself, or a row for each number of the range that it has. With `asIs` a text is one serial number. */
export function* withoutRanges<Field extends string>(
  row: TableRow<Field | RangeField>,
  asIs: boolean,
): Generator<TableRow<Field | RangeField>> {
  const text = (field: RangeField) => String(row.values[field] ?? '').trim();
  const [serial, first, last] = [text('serialNumber'), text('firstSerial'), text('lastSerial')];
  const range = first !== '' || last !== '' ? rangeOf(first, last, text('count')) : asIs ? null : writtenRange(serial);
  if (range === null || row.problem !== null) yield row;
  // A number beside secrets may be one of them.
  else if ('problem' in range) yield { ...row, problem: row.hasSecrets ? 'the range is not valid' : range.problem };
  else for (const serialNumber of range.serials) yield { ...row, values: { ...row.values, serialNumber } };
}

/** The range that a text is; null for one serial number. */
function writtenRange(text: string): Range | null {
  const [, prefix = '', first, other = '', last] = written.exec(text) ?? [];
  if (first === undefined || last === undefined || other !== prefix) return null;
  const range = rangeOf(prefix + first, prefix + last, '');
  // Numbers of other lengths are parts of one serial number (2026-000001), unless all between them would be too many.
  const isOther = (first.length !== last.length || first.length < FEWEST) && BigInt(last) - BigInt(first) < mostInRange;
  if (isOther || BigInt(last) <= BigInt(first)) return null;
  const half = Math.ceil(first.length / 2);
  if (!('problem' in range) && (prefix !== '' || first.slice(0, half) === last.slice(0, half))) return range;
  const words = 'problem' in range ? range.problem : `may be one serial number, or a range of ${range.count}`;
  return {
    problem: `serialNumber ${text}: ${words}. If it is one: --as-is. If not: give both numbers in columns "first serial" and "last serial"`,
  };
}

/** The serial numbers from the first to the last one. `count`: how many the file states; empty if it does not. */
function rangeOf(first: string, last: string, count: string): Range {
  if (first === '' || last === '') return { problem: 'a range needs a first and a last serial number' };
  const [[prefix, from], [otherPrefix, to]] = [numbered(first), numbered(last)];
  if (from === '' || to === '' || prefix !== otherPrefix)
    return {
      problem: `${first.slice(0, 64)} to ${last.slice(0, 64)} is not a range: the texts before the numbers differ`,
    };
  // Numbers of cards (ICCID) follow each other without their check digits.
  const digitOf = checkDigitsLike(first);
  const isCard = digitOf?.(last.slice(0, -1)) === last.at(-1);
  const [body, other] = [from, to].map(number => (isCard ? number.slice(0, -1) : number)) as [string, string];
  const [start, end] = [BigInt(body), BigInt(other)];
  if (from.length !== to.length || end < start)
    return {
      problem: `${first} to ${last} is not a range: the numbers have ${end < start ? 'another order' : 'other lengths'}`,
    };
  const total = end - start + 1n;
  if (total > mostInRange)
    return { problem: `${first} to ${last} are ${total} serial numbers: a range has at most ${mostInRange}` };
  if (/^\d+$/.test(count) && BigInt(count) !== total)
    return { problem: `${first} to ${last} are ${total} serial numbers, and the line has ${count}` };
  return { count: Number(total), serials: between(prefix, [start, end], body.length, isCard ? digitOf! : () => '') };
}

/** A serial number in two parts: the text before its last digits, and these; they are empty if it has none, or is too long. */
function numbered(serial: string): readonly [prefix: string, number: string] {
  let at = serial.length;
  while (at > 0 && serial[at - 1]! >= '0' && serial[at - 1]! <= '9') at--;
  return serial.length > textLengths.serialNumber ? [serial, ''] : [serial.slice(0, at), serial.slice(at)];
}

function* between(
  prefix: string,
  [start, end]: readonly [bigint, bigint],
  length: number,
  checkDigitOf: (body: string) => string,
): Generator<string> {
  for (let number = start; number <= end; number++) {
    const body = String(number).padStart(length, '0');
    yield prefix + body + checkDigitOf(body);
  }
}
