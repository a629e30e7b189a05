/** The rows of an input file: registrations, or what is wrong with them. */
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { cellText } from '../../../contract/csv.ts';
import type { Registration } from '../../../contract/devices.ts';
import { readCells, readObject, registrationFields, requiredFields } from '../../../contract/readers.ts';
import { deviceTypes } from '../../../contract/values.ts';
import { Fault, systemWords, usage } from '../../fault.ts';
import { readCsv } from './csv.ts';
import { InvalidArray, type JsonElement, readJsonArray, readJsonLines } from './json.ts';
import type { Position } from './line-number.ts';

type Field = keyof Registration;

/** Accepted names beside that of the field, in lower case. */
const spellings: Readonly<Partial<Record<Field, readonly string[]>>> = {
  deviceType: ['type', 'kind'],
  serialNumber: ['serial', 'serialno', 'serialnum', 'serialnr', 'sn'],
  manufacturer: ['vendor', 'maker', 'manufacturername'],
  model: ['devicemodel', 'modelname', 'product'],
  hardwareVersion: ['hardware', 'hwversion', 'hw'],
  firmwareVersion: ['firmware', 'fwversion', 'fw'],
};

const byName = new Map(
  registrationFields.flatMap(field =>
    [field.toLowerCase(), ...(spellings[field] ?? [])].map(name => [name, field] as const),
  ),
);

/** The field that the name of a column or a property stands for; null if none. Case, spaces and punctuation do not matter. */
export function fieldOf(name: string): Field | null {
  return (
    byName.get(
      name
        .trim()
        .toLowerCase()
        .replace(/[\s_.-]+/g, ''),
    ) ?? null
  );
}

/** Format of an input file: CSV, a JSON array, or JSON lines. */
export type Format = 'csv' | 'json' | 'jsonl';

/** A device to register, or an invalid row. `serialNumber` is null if the row has none. */
export type Row = { readonly position: Position; readonly serialNumber: string | null } & (
  | { readonly device: Registration }
  /** `field` is empty if the row as a whole is invalid. */
  | { readonly field: string; readonly problem: string }
);

/** An input file that is being read. */
export interface Input {
  /** Bytes of the rows consumed so far, about 1 KiB more or less. Bytes that were read ahead do not count. */
  readonly consumed: () => number;
  readonly rows: AsyncGenerator<Row>;
}

/** Values of `--type`, `--manufacturer` and `--model`, which fill what a row lacks. */
export type Defaults = Partial<Pick<Registration, 'deviceType' | 'manufacturer' | 'model'>>;

/** Which file to read, and how. */
export interface InputOptions {
  /** `-` is standard input. */
  readonly file: string;
  readonly stdin: Readable;
  /** Null detects it from the name, or from the first character. */
  readonly format: Format | null;
  /** Values for rows that have none. */
  readonly defaults: Defaults;
  /** Called with the names of ignored columns. */
  readonly notice: (text: string) => void;
}

/** Opens the input. Its rows throw a usage fault if the input as a whole is not readable or not valid. */
export function openInput(options: InputOptions): Input {
  const { file, stdin } = options;
  const stream: Readable = file === '-' ? stdin : createReadStream(file, { highWaterMark: 256 * 1024 });
  let bytes = 0;
  const text = decode(stream, count => {
    bytes += count;
  });
  return { consumed: () => bytes, rows: rowsOf(options, text) };
}

async function* rowsOf(options: InputOptions, text: AsyncGenerator<string>): AsyncGenerator<Row> {
  const name = options.file === '-' ? 'standard input' : options.file;
  try {
    const [first, chunks] = await peek(text);
    if (first.trim() === '' && (await isBlank(chunks)))
      throw usage(`${name} is empty`, 'it needs a header row, and one device on each line after it');
    const format = options.format ?? formatOf(options.file, first);
    const all = concatenated(first, chunks);
    if (format === 'csv') yield* csvRows(all, name, options, readCells);
    else if (format === 'json') yield* jsonRows(readJsonArray(all), options.defaults, readObject);
    else yield* jsonRows(readJsonLines(all), options.defaults, readObject);
  } catch (error) {
    if (error instanceof Fault) throw error;
    if (error instanceof InvalidArray)
      throw usage(
        `${name}, line ${error.line}: ${error.message}`,
        'for JSON lines, name the file .jsonl or give --format jsonl',
      );
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

async function* concatenated(first: string, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  yield first;
  yield* rest;
}

/** UTF-16 units per piece, which limits the error of `Input.consumed`. */
const pieceLength = 1024;

/** The text of an input. Throws a usage fault if it is UTF-16. `count` gets the bytes of each piece once it is consumed. */
export async function* decode(stream: Readable, count: (bytes: number) => void): AsyncGenerator<string> {
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

/** The decoder writes this for bytes that are not valid UTF-8. */
const replacement = '\ufffd';

function rowOf(position: Position, values: Readonly<Record<string, unknown>>, read: typeof readObject): Row {
  const serial = values.serialNumber;
  const serialNumber =
    typeof serial === 'string'
      ? serial.trim() || null
      : serial === undefined || serial === null
        ? null
        : String(serial);
  const broken = Object.keys(values).find(field => String(values[field]).includes(replacement));
  if (broken) return { position, serialNumber, field: broken, problem: `${broken} is not valid UTF-8` };
  const outcome = read(withTypeInCapitals(values));
  if (!outcome.ok) return { position, serialNumber, field: outcome.field, problem: outcome.message };
  return { position, serialNumber, device: outcome.value };
}

/** A value of the row takes precedence. */
function filled(values: Readonly<Record<string, unknown>>, defaults: Defaults): Readonly<Record<string, unknown>> {
  const all: Record<string, unknown> = { ...values };
  for (const [field, value] of Object.entries(defaults)) if (isBlankValue(all[field])) all[field] = value;
  return all;
}

const isBlankValue = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '');

/** `ukey` in a file is accepted like `--type ukey`. */
function withTypeInCapitals(values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { deviceType } = values;
  if (typeof deviceType !== 'string') return values;
  const name = deviceType.trim().toUpperCase();
  return deviceTypes.some(known => known === name) ? { ...values, deviceType: name } : values;
}

async function* csvRows(
  chunks: AsyncIterable<string>,
  name: string,
  { notice, defaults }: InputOptions,
  read: typeof readCells,
): AsyncGenerator<Row> {
  let columns: readonly ReturnType<typeof fieldOf>[] | null = null;
  for await (const record of readCsv(chunks)) {
    const { line } = record;
    if ('problem' in record) {
      if (columns === null)
        throw usage(`${name}, line ${line}: ${record.problem}`, 'the first line must be a header row');
      yield { position: { line }, serialNumber: null, field: '', problem: record.problem };
    } else if (columns === null) {
      columns = headerOf(record.cells, name, defaults, notice);
    } else {
      const { cells } = record;
      const values: Record<string, unknown> = {};
      for (const [index, field] of columns.entries()) {
        const cell = cells[index];
        if (field !== null) values[field] = cell === undefined ? undefined : cellText(cell);
      }
      const extra = cells.slice(columns.length).some(cell => cell.trim() !== '');
      if (!extra) yield rowOf({ line }, filled(values, defaults), read);
      else
        yield {
          position: { line },
          serialNumber: String(values.serialNumber ?? '') || null,
          field: '',
          problem: `the line has ${cells.length} cells, the header row ${columns.length}: does a cell contain a comma and no quotes?`,
        };
    }
  }
}

function headerOf(
  cells: readonly string[],
  name: string,
  defaults: Defaults,
  notice: (text: string) => void,
): ReturnType<typeof fieldOf>[] {
  const columns = cells.map(fieldOf);
  const missing = requiredFields.filter(field => !columns.includes(field) && !(field in defaults));
  if (missing.length)
    throw usage(
      `${name} has no column for ${missing.join(', ')}`,
      `the first line must be a header row with the names of the columns; it is: ${cells.join(', ').slice(0, 200)}`,
    );
  const doubled = columns.find((field, index) => field !== null && columns.indexOf(field) !== index);
  if (doubled) throw usage(`${name} has two columns for ${doubled}`, 'remove one of them');
  const ignored = cells.filter((cell, index) => columns[index] === null && cell.trim() !== '');
  if (ignored.length) notice(`ignored columns: ${ignored.map(cell => cell.trim()).join(', ')}`);
  return columns;
}

async function* jsonRows(
  elements: AsyncIterable<JsonElement>,
  defaults: Defaults,
  read: typeof readObject,
): AsyncGenerator<Row> {
  for await (const element of elements) {
    const { text, ...position } = element;
    const value = parsed(text);
    if (value === undefined) yield { position, serialNumber: null, field: '', problem: 'not valid JSON' };
    else if (typeof value !== 'object' || value === null || Array.isArray(value))
      yield { position, serialNumber: null, field: '', problem: 'a JSON object is required' };
    else yield rowOf(position, filled(byField(value as Record<string, unknown>), defaults), read);
  }
}

/** The value, or `undefined` if the text is not valid JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A property with the exact name of a field takes precedence over one with a similar name. */
function byField(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [name, content] of Object.entries(value)) {
    const field = fieldOf(name);
    if (field !== null && (name === field || fields[field] === undefined)) fields[field] = content;
  }
  return fields;
}
