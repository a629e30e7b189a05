/** The lines of an input file as registrations, or as what is wrong with them. */
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { cellText } from '../../../contract/csv.ts';
import type { Registration } from '../../../contract/devices.ts';
import type * as readers from '../../../contract/readers.ts';
import { Fault, systemWords, usage } from '../../fault.ts';
import { fieldOf, requiredFields } from './columns.ts';
import { readCsv } from './csv.ts';
import { type JsonElement, NoArray, readJsonArray, readJsonLines } from './json.ts';
import { type Place, placeOf } from './line-number.ts';

export type Format = 'csv' | 'json' | 'jsonl';

export type Row = { readonly place: Place; readonly serialNumber: string | null } & (
  | { readonly device: Registration }
  /** `field` is empty where the line or element as a whole is wrong. */
  | { readonly field: string; readonly problem: string }
);

export interface Source {
  /** Bytes of the rows taken so far; those read ahead do not count, but for a few. */
  readonly taken: () => number;
  readonly rows: AsyncGenerator<Row>;
}

export interface SourceOptions {
  /** `-` is standard input. */
  readonly file: string;
  readonly stdin: Readable;
  /** Null finds it out by the name, else by how the input begins. */
  readonly format: Format | null;
  /** Told of what is passed over. */
  readonly notice: (text: string) => void;
}

export function openRows(options: SourceOptions): Source {
  const { file, stdin } = options;
  const stream: Readable = file === '-' ? stdin : createReadStream(file, { highWaterMark: 256 * 1024 });
  let bytes = 0;
  const text = decode(stream, count => {
    bytes += count;
  });
  return { taken: () => bytes, rows: rowsOf(options, text) };
}

async function* rowsOf(options: SourceOptions, text: AsyncGenerator<string>): AsyncGenerator<Row> {
  const name = options.file === '-' ? 'standard input' : options.file;
  try {
    const [first, chunks] = await peek(text);
    if (first.trim() === '' && (await isBlank(chunks)))
      throw usage(`${name} is empty`, 'it should hold a header row and a device on each further line');
    const format = options.format ?? formatOf(options.file, first);
    const all = joined(first, chunks);
    const { readCells, readObject } = await import('../../../contract/readers.ts');
    if (format === 'csv') yield* csvRows(all, name, options.notice, readCells);
    else if (format === 'json') yield* jsonRows(readJsonArray(all), readObject);
    else yield* jsonRows(readJsonLines(all), readObject);
  } catch (error) {
    if (error instanceof Fault) throw error;
    if (error instanceof NoArray)
      throw usage(`${name}, line ${error.line}: ${error.message}`, 'JSON lines are named .jsonl, or --format jsonl');
    throw usage(`${name} cannot be read: ${systemWords(error)}`);
  }
}

/** The first chunk that holds more than white space, and the rest. */
async function peek(text: AsyncGenerator<string>): Promise<[string, AsyncGenerator<string>]> {
  let first = '';
  for (;;) {
    const { value, done } = await text.next();
    if (done) return [first, text];
    first += value;
    if (first.trim() !== '') return [first, text];
  }
}

async function isBlank(text: AsyncGenerator<string>): Promise<boolean> {
  const { done } = await text.next();
  return done === true;
}

async function* joined(first: string, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  yield first;
  yield* rest;
}

/** Characters handed on at once: so far can a row be from what counts as taken. */
const pieceLength = 1024;

async function* decode(stream: Readable, count: (bytes: number) => void): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8');
  let isFirst = true;
  for await (const chunk of stream) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : (chunk as Buffer);
    if (
      isFirst &&
      bytes.length >= 2 &&
      ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff))
    )
      throw usage('the input is UTF-16', 'save it as UTF-8');
    isFirst = false;
    const text = decoder.decode(bytes, { stream: true });
    for (let at = 0; at < text.length; at += pieceLength) {
      const piece = text.slice(at, at + pieceLength);
      yield piece;
      count((bytes.length * piece.length) / text.length);
    }
  }
  const rest = decoder.decode();
  if (rest !== '') yield rest;
}

function formatOf(file: string, text: string): Format {
  const extension = /\.([a-z]+)$/i.exec(file)?.[1]?.toLowerCase();
  if (extension === 'csv' || extension === 'tsv') return 'csv';
  if (extension === 'json') return 'json';
  if (extension === 'jsonl' || extension === 'ndjson') return 'jsonl';
  const start = text.trimStart()[0];
  return start === '[' ? 'json' : start === '{' ? 'jsonl' : 'csv';
}

/** Where a text is no UTF-8 the decoder leaves this mark. */
const undecodable = '\ufffd';

function judged(place: Place, values: Readonly<Record<string, unknown>>, read: typeof readers.readObject): Row {
  const serial = values.serialNumber;
  const serialNumber =
    typeof serial === 'string'
      ? serial.trim() || null
      : serial === undefined || serial === null
        ? null
        : String(serial);
  const broken = Object.keys(values).find(field => String(values[field]).includes(undecodable));
  if (broken) return { place, serialNumber, field: broken, problem: `${broken} holds bytes that are no UTF-8` };
  const outcome = read(values);
  if (!outcome.ok) return { place, serialNumber, field: outcome.field, problem: outcome.message };
  return { place, serialNumber, device: outcome.value };
}

async function* csvRows(
  chunks: AsyncIterable<string>,
  name: string,
  notice: (text: string) => void,
  read: typeof readers.readCells,
): AsyncGenerator<Row> {
  let columns: readonly ReturnType<typeof fieldOf>[] | null = null;
  for await (const record of readCsv(chunks)) {
    const { line } = record;
    if ('problem' in record) {
      if (columns === null)
        throw usage(`${name}, line ${line}: ${record.problem}`, 'the first line has to be a header row');
      yield { place: { line }, serialNumber: null, field: '', problem: record.problem };
    } else if (columns === null) {
      columns = headerOf(record.cells, name, notice);
    } else {
      const { cells } = record;
      const values: Record<string, unknown> = {};
      for (const [index, field] of columns.entries()) {
        const cell = cells[index];
        if (field !== null) values[field] = cell === undefined ? undefined : cellText(cell);
      }
      const extra = cells.slice(columns.length).some(cell => cell.trim() !== '');
      if (!extra) yield judged({ line }, values, read);
      else
        yield {
          place: { line },
          serialNumber: String(values.serialNumber ?? '') || null,
          field: '',
          problem: `the line has ${cells.length} cells, the header row ${columns.length}: is a cell with a comma not quoted?`,
        };
    }
  }
}

function headerOf(
  cells: readonly string[],
  name: string,
  notice: (text: string) => void,
): ReturnType<typeof fieldOf>[] {
  const columns = cells.map(fieldOf);
  const missing = requiredFields.filter(field => !columns.includes(field));
  if (missing.length)
    throw usage(
      `${name} has no column for ${missing.join(', ')}`,
      `the first line has to be a header row that names the columns; it reads: ${cells.join(', ').slice(0, 200)}`,
    );
  const doubled = columns.find((field, index) => field !== null && columns.indexOf(field) !== index);
  if (doubled) throw usage(`${name} has two columns for ${doubled}`, 'take one of them out');
  const ignored = cells.filter((cell, index) => columns[index] === null && cell.trim() !== '');
  if (ignored.length)
    notice(`columns that are not needed are passed over: ${ignored.map(cell => cell.trim()).join(', ')}`);
  return columns;
}

async function* jsonRows(elements: AsyncIterable<JsonElement>, read: typeof readers.readObject): AsyncGenerator<Row> {
  for await (const element of elements) {
    const place = placeOf(element);
    const value = parsed(element.text);
    if (value === undefined) yield { place, serialNumber: null, field: '', problem: 'this is no JSON' };
    else if (typeof value !== 'object' || value === null || Array.isArray(value))
      yield { place, serialNumber: null, field: '', problem: 'a JSON object is required' };
    else yield judged(place, byField(value as Record<string, unknown>), read);
  }
}

/** `undefined` is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A property with the field's very name wins over one that is spelt like it. */
function byField(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [name, content] of Object.entries(value)) {
    const field = fieldOf(name);
    if (field !== null && (name === field || fields[field] === undefined)) fields[field] = content;
  }
  return fields;
}
