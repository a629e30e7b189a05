/** The rows of an input file: registrations, or what is wrong with them. */
import { readObject } from '../../../../contract/readers.ts';
import { type Fault, usage } from '../../../fault.ts';
import { nameOf, noticeOf, unreadable } from '../../../jobs/input-file.ts';
import { concatenated, type InputSource, inputText, isAtEnd, peek } from '../../../jobs/input-text.ts';
import { InvalidArray, type JsonElement, readJsonArray, readJsonLines } from '../../../jobs/json.ts';
import { DroppedSecrets, isSecretName } from './columns.ts';
import { csvRows, type ReadOptions } from './csv-rows.ts';
import { assignedFields, type Mapping } from './mapping.ts';
import { type Defaults, type Row, rowOf } from './row.ts';

/** Format of an input file: CSV, a JSON array, or JSON lines. */
export type FileFormat = 'csv' | 'json' | 'jsonl';

/** An input file that is being read. */
export interface Input {
  /** Bytes of the consumed rows, about 1 KiB more or less. Bytes that were read ahead do not count. */
  readonly consumed: () => number;
  readonly rows: AsyncGenerator<Row>;
  /** Secrets in the consumed rows. */
  readonly dropped: DroppedSecrets;
}

/** Which file to read, and how. */
interface InputOptions extends InputSource {
  /** Null detects it from the name, or from the first character. */
  readonly format: FileFormat | null;
  readonly mapping: Mapping;
  /** Values for rows that have none; those of the mapping come after them. */
  readonly defaults: Defaults;
  /** Called with what is read from which column. */
  readonly explain: (text: string) => void;
  /** Called with the names of ignored columns. */
  readonly notice: (text: string) => void;
}

/** Opens the input. Its rows throw a usage fault if the input as a whole is not readable or not valid. */
export function openInput(options: InputOptions): Input {
  const { mapping, explain, notice } = options;
  let bytes = 0;
  const name = nameOf(options.file);
  // Each row with bytes that are not valid is refused; the others are sent.
  const onInvalid = (fault: Fault) => notice(noticeOf(fault));
  const text = inputText(options, onInvalid, count => {
    bytes += count;
  });
  const dropped = new DroppedSecrets();
  const defaults = { ...mapping.defaults, ...options.defaults };
  const read: ReadOptions = { name, mapping, defaults, dropped, explain, notice };
  return { consumed: () => bytes, rows: rowsOf(options, read, text), dropped };
}

async function* rowsOf(input: InputOptions, options: ReadOptions, text: AsyncGenerator<string>): AsyncGenerator<Row> {
  const { name, mapping } = options;
  try {
    const [first, chunks] = await peek(text);
    if (first.trim() === '' && (await isAtEnd(chunks)))
      throw usage(`${name} is empty`, 'it needs a header row, and one device on each line after it');
    const all = concatenated(first, chunks);
    if (mapping.preset === 'pskc') {
      const { pskcRows } = await import('./pskc.ts');
      return yield* pskcRows(all, options);
    }
    checkNoXml(name, first);
    const format = input.format ?? formatOf(input.file, first);
    if (format === 'csv') yield* csvRows(all, options);
    else yield* jsonRows(format === 'json' ? readJsonArray(all) : readJsonLines(all), options);
  } catch (error) {
    if (error instanceof InvalidArray)
      throw usage(
        `${name}, line ${error.line}: ${error.message}`,
        'for JSON lines, name the file .jsonl or give --format jsonl',
      );
    throw unreadable(input.file, error);
  }
}

function checkNoXml(name: string, first: string): void {
  if (!first.trimStart().startsWith('<')) return;
  const isPskc = first.includes('KeyContainer');
  throw usage(
    `${name} is XML`,
    isPskc ? 'it looks like a PSKC file: add --map pskc' : 'only PSKC files (RFC 6030) can be read: --map pskc',
  );
}

function formatOf(file: string, text: string): FileFormat {
  const extension = /\.([a-z]+)$/i.exec(file)?.[1]?.toLowerCase();
  if (extension === 'csv' || extension === 'tsv') return 'csv';
  if (extension === 'json') return 'json';
  if (extension === 'jsonl' || extension === 'ndjson') return 'jsonl';
  const start = text.trimStart()[0];
  return start === '[' ? 'json' : start === '{' ? 'jsonl' : 'csv';
}

async function* jsonRows(elements: AsyncIterable<JsonElement>, options: ReadOptions): AsyncGenerator<Row> {
  for await (const element of elements) {
    const { text, ...position } = element;
    const value = parsed(text);
    if (value === undefined) yield { position, serialNumber: null, field: '', problem: 'not valid JSON' };
    else if (typeof value !== 'object' || value === null || Array.isArray(value))
      yield { position, serialNumber: null, field: '', problem: 'a JSON object is required' };
    else yield rowOf(position, byField(value as Record<string, unknown>, options), options.defaults, readObject);
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
function byField(value: Readonly<Record<string, unknown>>, { mapping, dropped }: ReadOptions): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  const names = Object.keys(value);
  for (const [index, field] of assignedFields(names, mapping).entries()) {
    const name = names[index]!;
    const content = value[name];
    if (field !== null && (name === field || fields[field] === undefined)) fields[field] = content;
    else if (field === null && isSecretName(name) && content !== null && content !== '') dropped.note(name);
  }
  return fields;
}
