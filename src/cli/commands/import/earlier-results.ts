/** Reads the results of an earlier run, so that its rows are not registered again. */
import { closeSync, createReadStream, openSync, readSync, statSync } from 'node:fs';
import { cellText } from '../../../contract/csv.ts';
import { type Fault, systemWords, usage } from '../../fault.ts';
import { safe } from '../../terminal/text.ts';
import { readCsv } from './csv.ts';
import { TooLong } from './input-text.ts';
import { readJsonLines } from './json.ts';
import type { Position } from './line-number.ts';
import type { Row } from './row.ts';

/** A result as it was read from a file. */
export interface StoredResult extends Position {
  readonly serialNumber: string;
  readonly status: string;
  readonly deviceId: string;
  /** Business code of a failure. */
  readonly code: number | null;
}

/** Bytes. A file with only a header has nothing to lose. */
const maxHeader = 200;
/** Bytes. */
const maxLine = 64 * 1024;

/** Whether the file exists and contains more than a header of results. */
export function hasResults(file: string): boolean {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats?.isFile() || stats.size === 0) return false;
  return (
    stats.size > maxHeader || !/^line,serialNumber,[^\n]*\n$/.test(tailOf(file, stats.size, stats.size).toString())
  );
}

/** Whether the results in the file are CSV; otherwise they are JSON lines. */
export const isCsvFile = (file: string): boolean => tailOf(file, 1, 1).toString() !== '{';

/** Bytes of the file up to the end of its last complete line. */
export function wholeBytes(file: string): number {
  const { size } = statSync(file);
  const tail = tailOf(file, size, maxLine);
  return size - tail.length + tail.lastIndexOf('\n') + 1;
}

/** The results in the first `bytes` bytes. Throws a usage fault if the file contains something else. */
export async function* readResults(file: string, bytes: number): AsyncGenerator<StoredResult> {
  for await (const record of readRecords(file, bytes, foreignResults)) yield storedResult(file, record);
}

/** The records in the first `bytes` bytes of a CSV or JSON lines file. Throws `foreign` of the file if it is neither. */
export async function* readRecords(
  file: string,
  bytes: number,
  foreign: (file: string) => Fault,
): AsyncGenerator<Readonly<Record<string, unknown>>> {
  if (bytes === 0) return;
  const text = createReadStream(file, { encoding: 'utf8', end: bytes - 1 });
  try {
    if (isCsvFile(file)) yield* fromCsv(file, text, foreign);
    else for await (const line of readJsonLines(text)) yield JSON.parse(line.text);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TooLong) throw foreign(file);
    if (error instanceof Error && 'syscall' in error)
      throw usage(`the results in ${file} cannot be read: ${systemWords(error)}`);
    throw error;
  }
}

async function* fromCsv(
  file: string,
  text: AsyncIterable<string>,
  foreign: (file: string) => Fault,
): AsyncGenerator<Readonly<Record<string, unknown>>> {
  let header: readonly string[] | null = null;
  for await (const record of readCsv(text)) {
    if ('problem' in record) throw foreign(file);
    if (header === null) header = record.cells;
    else yield Object.fromEntries(header.map((name, index) => [name, record.cells[index]]));
  }
}

function storedResult(file: string, result: Readonly<Record<string, unknown>>): StoredResult {
  const { line, item, serialNumber, status, deviceId, code } = result;
  if (!Number.isSafeInteger(Number(line ?? Number.NaN)) || !isDone(status)) throw foreignResults(file);
  return {
    line: Number(line),
    ...(item === undefined || item === '' ? {} : { item: Number(item) }),
    serialNumber: comparable(String(serialNumber ?? '')),
    status,
    deviceId: String(deviceId ?? ''),
    code: code === undefined || code === '' ? null : Number(code),
  };
}

const isDone = (status: unknown): status is 'success' | 'registered' | 'failed' =>
  status === 'success' || status === 'registered' || status === 'failed';

/** Whether the result belongs to the row. */
export const isResultOf = (result: StoredResult, { position, serialNumber }: Row): boolean =>
  result.line === position.line &&
  result.item === position.item &&
  result.serialNumber === comparable(serialNumber ?? '');

/** CSV and JSON results, of this version and earlier ones, differ in escapes and in the apostrophe before a formula. */
const comparable = (serialNumber: string): string => cellText(safe(serialNumber));

/** The fault if no run of this input wrote the file. */
export const foreignResults = (file: string) =>
  usage(
    `${file} does not contain results of this input`,
    'name another file with --out, or give --force to start over and keep a copy of the file',
  );

/** At most `length` bytes before `end`. */
function tailOf(file: string, end: number, length: number): Buffer {
  const bytes = Buffer.alloc(Math.min(end, length));
  const fd = openSync(file, 'r');
  try {
    return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, end - bytes.length));
  } finally {
    closeSync(fd);
  }
}
