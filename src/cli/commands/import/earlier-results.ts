/** Reads back the results that an earlier run has written: what they tell of is not done again. */
import { closeSync, createReadStream, openSync, readSync, statSync } from 'node:fs';
import { cellText } from '../../../contract/csv.ts';
import { systemWords, usage } from '../../fault.ts';
import { safe } from '../../terminal/text.ts';
import { readCsv } from './csv.ts';
import { readJsonLines } from './json.ts';
import type { Place } from './line-number.ts';
import type { Row } from './rows.ts';

/** What a result tells of its line. */
export interface Kept extends Place {
  readonly serialNumber: string;
  readonly status: string;
  readonly deviceId: string;
  readonly code: number | null;
}

/** A header alone holds nothing that could be lost. */
const longestHeader = 200;
const longestLine = 64 * 1024;

/** Whether a file is there that holds more than a header of results. */
export function isFilled(file: string): boolean {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats?.isFile() || stats.size === 0) return false;
  return (
    stats.size > longestHeader || !/^line,serialNumber,[^\n]*\n$/.test(tailOf(file, stats.size, stats.size).toString())
  );
}

/** Whether the results in it are CSV; else they are JSON lines. */
export const holdsCsv = (file: string): boolean => tailOf(file, 1, 1).toString() !== '{';

/** Bytes of the file up to the end of its last whole line. */
export function wholeBytes(file: string): number {
  const { size } = statSync(file);
  const tail = tailOf(file, size, longestLine);
  return size - tail.length + tail.lastIndexOf('\n') + 1;
}

/** The results in the first so many bytes, one after the other; a fault where they are something else. */
export async function* keptResults(file: string, bytes: number): AsyncGenerator<Kept> {
  if (bytes === 0) return;
  const text = createReadStream(file, { encoding: 'utf8', end: bytes - 1 });
  try {
    if (holdsCsv(file)) yield* fromCsv(file, text);
    else for await (const line of readJsonLines(text)) yield keptOf(file, JSON.parse(line.text));
  } catch (error) {
    if (error instanceof SyntaxError) throw foreign(file);
    if (error instanceof Error && 'syscall' in error)
      throw usage(`the results in ${file} cannot be read: ${systemWords(error)}`);
    throw error;
  }
}

async function* fromCsv(file: string, text: AsyncIterable<string>): AsyncGenerator<Kept> {
  let header: readonly string[] | null = null;
  for await (const record of readCsv(text)) {
    if ('problem' in record) throw foreign(file);
    if (header === null) header = record.cells;
    else yield keptOf(file, Object.fromEntries(header.map((name, index) => [name, record.cells[index]])));
  }
}

function keptOf(file: string, result: Readonly<Record<string, unknown>>): Kept {
  const { line, item, serialNumber, status, deviceId, code } = result;
  if (!Number.isSafeInteger(Number(line ?? Number.NaN)) || (status !== 'success' && status !== 'failed'))
    throw foreign(file);
  return {
    line: Number(line),
    ...(item === undefined || item === '' ? {} : { item: Number(item) }),
    serialNumber: comparable(String(serialNumber ?? '')),
    status,
    deviceId: String(deviceId ?? ''),
    code: code === undefined || code === '' ? null : Number(code),
  };
}

/** Whether the result is that of the row. */
export const isOf = (kept: Kept, { place, serialNumber }: Row): boolean =>
  kept.line === place.line && kept.item === place.item && kept.serialNumber === comparable(serialNumber ?? '');

/** CSV and JSON results, of this version and earlier ones, differ in escapes and in the apostrophe before a formula. */
const comparable = (serialNumber: string): string => cellText(safe(serialNumber));

/** The file holds what no run on this input has written. */
export const foreign = (file: string) =>
  usage(
    `${file} holds something else than results of this input`,
    'name another file with --out; --force begins anew, and keeps what is there beside it',
  );

/** The last bytes before `end`. */
function tailOf(file: string, end: number, most: number): Buffer {
  const bytes = Buffer.alloc(Math.min(end, most));
  const fd = openSync(file, 'r');
  try {
    return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, end - bytes.length));
  } finally {
    closeSync(fd);
  }
}
