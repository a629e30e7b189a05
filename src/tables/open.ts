/** Finds the format of an input, and reads its rows as that format has them. */
import { isObject } from '../contract/json-object.ts';
import { binaryKind, encodingWithoutMark, isLocked, markupKind, TextInput } from './bytes.ts';
import { CsvReader, csvProblems } from './csv-reader.ts';
import { InvalidInput } from './fault.ts';
import { headerOf, mostTitles, type Separation, separationOf, unwrapped } from './header.ts';
import { readJsonArray, readJsonLines, type Wrapper, wrapperOf } from './json.ts';
import { readLdif } from './ldif.ts';
import type { RawRow, RawRows, TableFormat } from './raw.ts';
import type { DroppedSecrets } from './secrets.ts';
import { isSimFile, readSimFile } from './sim-file.ts';
import { checkLength, peek } from './text.ts';

/** How an input is opened. */
export interface OpenOptions {
  readonly file: string;
  readonly format: TableFormat | null;
  readonly encoding: string | null;
  /** Whether a name is one of a field, or of a column that a person has named. */
  readonly isKnown: (name: string) => boolean;
  readonly dropped: DroppedSecrets;
}

/** An input with its rows. */
export interface OpenInput {
  readonly format: TableFormat;
  /** Null for a workbook. */
  readonly separator: string | null;
  /** Names of the columns, and the line that has them; null if no row is a header row, or rows are objects. */
  readonly header: { readonly names: readonly string[]; readonly line: number } | null;
  /** All rows, also that of the header and those above it. */
  readonly rows: RawRows;
  /** Null for a workbook. */
  readonly input: TextInput | null;
  readonly remarks: readonly string[];
  /** Cells have places of their own: a row with fewer cells lacks the last ones. */
  readonly hasPlaces: boolean;
}

/** The name of standard input. Its rows are not waited for: some are enough to read them. */
export const STANDARD_INPUT = '-';

/** Bytes that show what a file is; the name that shows a password is further on. */
const HEAD = 64;
const OLE_HEAD = 2 ** 16;
const STARTS_WITH_COMMENT = /^\s*#/;

/** Opens an input. Throws `InvalidInput`. */
export async function openInput(bytes: AsyncIterable<Uint8Array>, options: OpenOptions): Promise<OpenInput> {
  const chunks = bytes[Symbol.asyncIterator]();
  const head: Uint8Array[] = [];
  let length = 0;
  const isOle = () => head.length > 0 && binaryKind(joined(head, HEAD)) === 'xls';
  while (length < HEAD || (length < OLE_HEAD && isOle())) {
    const part = await chunks.next();
    if (part.done) break;
    head.push(part.value);
    length += part.value.length;
  }
  const start = joined(head, OLE_HEAD);
  const kind = binaryKind(start);
  if (kind === 'zip') return openWorkbook(head, chunks, options);
  if (kind !== null)
    throw new InvalidInput({ what: 'foreign', kind: kind === 'xls' && isLocked(start) ? 'locked workbook' : kind });
  const input = new TextInput(chunks, options.encoding ?? encodingWithoutMark(start));
  return openText(input, input.text(head), options);
}

function joined(parts: readonly Uint8Array[], most: number): Uint8Array {
  const all = new Uint8Array(
    Math.min(
      most,
      parts.reduce((sum, { length }) => sum + length, 0),
    ),
  );
  let at = 0;
  for (const part of parts) {
    all.set(part.subarray(0, all.length - at), at);
    at += Math.min(part.length, all.length - at);
  }
  return all;
}

async function openWorkbook(
  head: readonly Uint8Array[],
  chunks: AsyncIterator<Uint8Array>,
  options: OpenOptions,
): Promise<OpenInput> {
  const { archiveKind, isWorkbook, readWorkbook, workbookBounds } = await import('./xlsx.ts');
  const parts = [...head];
  let length = parts.reduce((sum, part) => sum + part.length, 0);
  for (let part = await chunks.next(); !part.done; part = await chunks.next()) {
    length += part.value.length;
    if (length > workbookBounds.file) {
      await chunks.return?.();
      throw new InvalidInput({ what: 'workbook', problem: 'it has more than 64 MiB: save the sheet as CSV' });
    }
    parts.push(part.value);
  }
  const bytes = joined(parts, length);
  if (!isWorkbook(bytes)) throw new InvalidInput({ what: 'foreign', kind: archiveKind(bytes) });
  const { rows, unread } = await readWorkbook(bytes);
  const { first, all } = await firstRows(rows);
  const header = headerOf(first, options.isKnown);
  const remarks =
    unread.length > 0 ? [`sheets that are not read: ${unread.map(name => name.slice(0, 60)).join(', ')}`] : [];
  return { format: 'xlsx', separator: null, header: namesOf(header), rows: all, input: null, remarks, hasPlaces: true };
}

/** Rows that may hold the header, and all rows. */
async function firstRows(rows: RawRows): Promise<{ readonly first: readonly RawRow[]; readonly all: RawRows }> {
  const first: RawRow[] = [];
  while (first.length <= mostTitles) {
    const { value, done } = await rows.next();
    if (done) break;
    first.push(...value);
  }
  return { first, all: before(first, rows) };
}

async function* before(first: readonly RawRow[], rest: RawRows): RawRows {
  yield first;
  yield* rest;
}

const namesOf = (header: Separation['header']): OpenInput['header'] =>
  header?.names ? { names: header.names, line: header.line } : null;

/** Lines that are enough to find the header; a text without line ends is not read to its end. */
const headLines = 3 * mostTitles;
const headLength = 2 ** 18;

const isEnough = (start: string): boolean => {
  if (start.length > headLength) return true;
  let lines = 0;
  for (let at = start.indexOf('\n'); at >= 0 && lines < headLines; at = start.indexOf('\n', at + 1)) lines++;
  return lines >= headLines;
};

/** Whether the complete lines of standard input begin with a header row, or an object: its sender may wait for the first results. */
function isBegun(start: string, { file, isKnown }: OpenOptions): boolean {
  if (file !== STANDARD_INPUT) return false;
  const whole = start.slice(0, start.lastIndexOf('\n') + 1);
  const first = whole.indexOf('\n');
  if (whole.trimStart()[0] === '{') return isObjectText(whole.slice(0, first));
  if (first === whole.length - 1) return false;
  const { header } = separationOf(whole, isKnown, skipped(start));
  return header !== null && header.names !== null && 2 * header.known > header.cells;
}

function isObjectText(line: string): boolean {
  try {
    return isObject(JSON.parse(line));
  } catch {
    return false;
  }
}

async function openText(input: TextInput, all: AsyncGenerator<string>, options: OpenOptions): Promise<OpenInput> {
  const { start, isAll, text } = await peek(all, begun => isEnough(begun) || isBegun(begun, options));
  if (start.trim() === '') throw new InvalidInput({ what: 'empty' });
  const markup = options.format === 'pskc' ? 'xml' : markupKind(start);
  if (markup !== null && markup !== 'xml') throw new InvalidInput({ what: 'foreign', kind: markup });
  if (start.slice(0, 1000).includes('\0')) throw new InvalidInput({ what: 'foreign', kind: 'binary' });
  const isPskc = options.format === 'pskc' || (markup === 'xml' && start.includes('KeyContainer'));
  if (markup === 'xml' && !isPskc) throw new InvalidInput({ what: 'xml' });
  const { format, wrapper } = isPskc ? { format: 'pskc' as const, wrapper: null } : formatOf(start, options);
  if (format !== 'csv')
    return { ...plain, format, rows: await objectsOf(format, text, wrapper, options.dropped), input };
  const whole = isAll ? start : start.slice(0, start.lastIndexOf('\n') + 1) || start;
  const skips = skipped(start);
  const separation = separationOf(whole, options.isKnown, skips);
  return {
    ...plain,
    format,
    separator: separation.mark,
    header: namesOf(separation.header),
    rows: csvRows(text, separation, skips),
    input,
  };
}

const plain = { separator: null, header: null, remarks: [], hasPlaces: false };

/** Lines that begin with `#` are comments if the first line is one. */
const skipped = (start: string): ((row: RawRow) => boolean) =>
  STARTS_WITH_COMMENT.test(start) ? row => 'cells' in row && STARTS_WITH_COMMENT.test(row.cells[0] ?? '') : () => false;

async function objectsOf(
  format: TableFormat,
  text: AsyncGenerator<string>,
  wrapper: Wrapper | null,
  dropped: DroppedSecrets,
): Promise<RawRows> {
  if (format === 'pskc') return (await import('./pskc.ts')).readPskc(text, dropped);
  if (format === 'ldif') return readLdif(text);
  if (format === 'sim') return readSimFile(text);
  return format === 'json' ? readJsonArray(text, wrapper) : readJsonLines(text);
}

const formatByEnding: Readonly<Record<string, TableFormat>> = {
  csv: 'csv',
  tsv: 'csv',
  json: 'json',
  jsonl: 'jsonl',
  ndjson: 'jsonl',
  ldif: 'ldif',
};

function formatOf(
  start: string,
  { file, format, isKnown }: OpenOptions,
): { format: TableFormat; wrapper: Wrapper | null } {
  const ending = /\.([a-z]+)$/i.exec(file)?.[1]?.toLowerCase() ?? '';
  // The line `dn: …` is the beginning of no other format, whatever the file is named.
  const named = format ?? (isLdif(start) ? 'ldif' : (formatByEnding[ending] ?? null));
  const first = start.trimStart()[0];
  const detected = first === '[' ? 'json' : first === '{' ? 'jsonl' : isSimFile(start) ? 'sim' : 'csv';
  const found = named ?? detected;
  if (first !== '{' || found === 'csv' || found === 'ldif' || found === 'sim') return { format: found, wrapper: null };
  const wrapper = format === 'jsonl' ? null : wrapperOf(start, isKnown);
  return { format: wrapper === null ? found : 'json', wrapper };
}

/** Whether the first line, apart from comments and the version, is the name of an entry. */
const isLdif = (start: string): boolean =>
  /^dn::? /i.test(
    start
      .slice(0, 4096)
      .split('\n')
      .find(line => line.trim() !== '' && !line.startsWith('#') && !/^version:/i.test(line)) ?? '',
  );

async function* csvRows(
  text: AsyncGenerator<string>,
  separation: Separation,
  skips: (row: RawRow) => boolean,
): RawRows {
  const { mark, hasMarkLine, isWrapped } = separation;
  const reader = new CsvReader(mark);
  const rowsIn = function* (chunk: string, isLast: boolean): Generator<RawRow> {
    for (const record of reader.read(chunk, isLast)) {
      const position = { line: record.line };
      if (hasMarkLine && record.line === 1) continue;
      if ('problem' in record) yield { position, problem: csvProblems[record.problem] };
      else {
        const row = { position, cells: isWrapped ? unwrapped(record.cells, mark) : record.cells };
        if (!skips(row)) yield row;
      }
    }
  };
  for await (const chunk of text) {
    yield [...rowsIn(chunk, false)];
    const { line, text: rest } = reader.unfinished;
    checkLength(rest, `line ${line}`);
  }
  yield [...rowsIn('\n', true)];
}
