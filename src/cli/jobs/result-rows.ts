/** The rows of files that enrollments have written. A file is read as a stream: memory does not grow with it. */
import { createReadStream } from 'node:fs';
import { crc32 } from 'node:zlib';
import { cellText } from '../../contract/csv.ts';
import { namesIn } from '../../contract/names.ts';
import { tagColumn } from '../../contract/values.ts';
import { type EnrollmentOutcome, providerColumn } from '../../enrollment/outcome.ts';
import { readCsv } from '../../tables/csv.ts';
import { checkLength, eachLine, peek, TooLong } from '../../tables/text.ts';
import { systemCode, systemWords, usage } from '../fault.ts';
import { wholeLines } from './torn-tail.ts';

/** The first columns of each file. */
export const fields = namesIn(
  'result deviceId serialNumber deviceType activationCode status userId manufacturer model firmwareVersion serialSource simulated message',
) satisfies readonly (keyof EnrollmentOutcome)[];

export const proofColumn = 'proof';
/** Present if keys sign receipts: the id, empty if the key has not signed. */
export const receiptColumn = 'receiptId' satisfies keyof EnrollmentOutcome;
/** Columns of a roster run. An earlier version has written no `failure`. */
export const nameColumn = 'name';
export const failureColumn = 'failure';
/** The last column. Files of an earlier version do not have it. */
export const checkColumn = 'check';

/** The check of a row: of its cells as texts, so that a spreadsheet may quote them otherwise. Not like a number or a date. */
export const checkOf = (cells: readonly string[]): string =>
  `c${crc32(JSON.stringify(cells)).toString(16).padStart(8, '0')}`;

/** Whether a row is as it was written: it has all cells of the header, and the check if the file has one. */
export const isWhole = (names: readonly string[], cells: readonly string[]): boolean =>
  cells.length === names.length &&
  (names.at(-1) !== checkColumn || cells.at(-1) === checkOf(cells.slice(0, -1).map(cellText)));

/** A row as a file has it. A cell of CSV that has no value is empty. */
export type ResultRow = Readonly<Record<string, unknown>> & {
  readonly tags?: Readonly<Record<string, unknown>>;
  readonly providers?: Readonly<Record<string, unknown>>;
};

/** The tags of a row. */
export function tagsIn(row: ResultRow): Readonly<Record<string, string>> {
  const cells = Object.entries(row).flatMap(([name, value]) =>
    name.startsWith(tagColumn) ? [[name.slice(tagColumn.length), value] as const] : [],
  );
  const isSet = ([, value]: readonly [string, unknown]) => typeof value === 'string' && value !== '';
  return Object.fromEntries([...Object.entries(row.tags ?? {}), ...cells].filter(isSet)) as Record<string, string>;
}

/** Whether the key of a row signs in at each of these providers. */
export const isIssuedAt = (row: ResultRow, providers: readonly string[]): boolean =>
  providers.every(name => (row[providerColumn + name] ?? row.providers?.[name]) === 'issued');

const results: readonly unknown[] = namesIn(
  'registered known new failed spooled conflict',
) satisfies readonly EnrollmentOutcome['result'][];

/** The file is not one of `enroll`. */
class Foreign extends Error {}

/** Called for each row that does not count: it is incomplete, or was changed after it was written. */
type OnTorn = () => void;

/** The rows of a file that an enrollment has written. Throws a usage fault if the file cannot be read, or is another one. */
export async function* resultRows(path: string, onTorn: OnTorn): AsyncGenerator<ResultRow> {
  try {
    yield* recognizedRows(path, onTorn);
  } catch (error) {
    if (error instanceof Foreign || error instanceof TooLong)
      throw usage(`${path} does not contain results of an enrollment`, 'give a file that enroll --out has written');
    if (systemCode(error) === null) throw error;
    throw usage(`the results in ${path} cannot be read: ${systemWords(error)}`);
  }
}

async function* recognizedRows(path: string, onTorn: OnTorn): AsyncGenerator<ResultRow> {
  const { start, text } = await peek(chunksOf(path));
  const isJson = start.startsWith('{');
  let isForeign = isJson;
  for await (const row of isJson ? jsonRows(text, onTorn) : csvRows(text, onTorn)) {
    if (!results.includes(row.result)) {
      onTorn();
      continue;
    }
    isForeign = false;
    yield row;
  }
  if (isForeign) throw new Foreign();
}

async function* chunksOf(path: string): AsyncGenerator<string> {
  yield* createReadStream(path, 'utf8');
}

/** Throws `Foreign` if the first row is not the header of results. */
async function* csvRows(chunks: AsyncIterable<string>, onTorn: OnTorn): AsyncGenerator<ResultRow> {
  let names: readonly string[] | null = null;
  for await (const record of readCsv(wholeLines(chunks, { orWhole: true, check: checkRest, onTail: onTorn }))) {
    if (names === null) {
      if (!('cells' in record) || !isHeader(record.cells)) throw new Foreign();
      names = record.cells;
      continue;
    }
    const columns = names;
    if ('cells' in record && isWhole(columns, record.cells))
      yield Object.fromEntries(record.cells.map((cell, i) => [columns[i], cellText(cell)]));
    else onTorn();
  }
}

const checkRest = (rest: string): void => checkLength(rest, 'a line');

/** Whether these are the columns of a file of results. */
export function isHeader(columns: readonly string[]): boolean {
  const more = columns.slice(fields.length);
  if (more.at(-1) === checkColumn) more.pop();
  return fields.every((field, at) => columns[at] === field) && more.every(isMoreColumn);
}

const isMoreColumn = (name: string): boolean =>
  [proofColumn, nameColumn, receiptColumn, failureColumn].includes(name) ||
  [tagColumn, providerColumn].some(prefix => name.startsWith(prefix));

async function* jsonRows(chunks: AsyncIterable<string>, onTorn: OnTorn): AsyncGenerator<ResultRow> {
  for await (const { text } of eachLine(wholeLines(chunks, { orWhole: false, check: checkRest, onTail: onTorn }))) {
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === 'object' && value !== null) yield value as ResultRow;
    } catch {
      onTorn();
    }
  }
}
