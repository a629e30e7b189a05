/** The rows of an input: registrations, or what is wrong with them. The command line and the console share it; it has no I/O. */
import { isObject } from '../../contract/json-object.ts';
import { readObject } from '../../contract/readers.ts';
import { csvHead, csvRows, type ReadOptions } from './csv-rows.ts';
import { InvalidInput } from './fault.ts';
import { type JsonElement, readJsonArray, readJsonLines } from './json.ts';
import { assignedFields, type Mapping } from './mapping.ts';
import { type Row, rowOf } from './row.ts';
import { isSecretValue, looksLikeKey } from './secret-names.ts';
import { peek } from './text.ts';

/** Format of an input file: CSV, a JSON array, or JSON lines. */
export type FileFormat = 'csv' | 'json' | 'jsonl';

/**
 * The rows of the input. `format`: null detects it from the name of the file, or from its first character. Throws `InvalidInput` if the
 * input as a whole is not valid.
 */
export async function* rowsOf(
  text: AsyncGenerator<string>,
  { file, format }: { readonly file: string; readonly format: FileFormat | null },
  options: ReadOptions,
): AsyncGenerator<Row> {
  const [first, all] = await peek(text);
  if (first.trim() === '') throw new InvalidInput({ what: 'empty' });
  if (options.mapping.preset === 'pskc') {
    const { pskcRows } = await import('./pskc.ts');
    return yield* pskcRows(all, options);
  }
  if (first.trimStart().startsWith('<'))
    throw new InvalidInput({ what: 'xml', isPskc: first.includes('KeyContainer') });
  const detected = format ?? formatOf(file, first);
  if (detected === 'csv') yield* csvRows(all, options);
  else yield* jsonRows(elementsOf(all, detected), options);
}

/** A column of an input, for the person who assigns it to a field. */
export interface HeadColumn {
  readonly name: string;
  /** Its value in the first line, cut; empty if it holds secrets. */
  readonly example: string;
  readonly holdsSecrets: boolean;
}

const longestExample = 60;

/** The columns of an input, or the properties of its first object. Empty if it has none. Throws as `rowsOf` does. */
export async function headOf(
  text: AsyncGenerator<string>,
  file: string,
  mapping: Mapping,
): Promise<readonly HeadColumn[]> {
  const [first, all] = await peek(text);
  if (first.trimStart().startsWith('<')) return [];
  const format = formatOf(file, first);
  const [names, values] = format === 'csv' ? await csvHead(all, mapping) : await jsonHead(elementsOf(all, format));
  return names.map((name, i) => {
    const value = values[i] ?? '';
    const holdsSecrets = isSecretValue(name, value) || looksLikeKey(name);
    const example = holdsSecrets || names.some(looksLikeKey) ? '' : value.slice(0, longestExample);
    return { name: name.trim(), example, holdsSecrets };
  });
}

const elementsOf = (chunks: AsyncIterable<string>, format: 'json' | 'jsonl'): AsyncIterable<JsonElement> =>
  format === 'json' ? readJsonArray(chunks) : readJsonLines(chunks);

async function jsonHead(elements: AsyncIterable<JsonElement>): Promise<[readonly string[], readonly string[]]> {
  for await (const { text } of elements) {
    const value = parsed(text);
    if (typeof value === 'object' && value !== null)
      return [
        Object.keys(value),
        Object.values(value).map(each => (typeof each === 'string' ? each : JSON.stringify(each))),
      ];
  }
  return [[], []];
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
  let hasRows = false;
  for await (const element of elements) {
    hasRows = true;
    const { text, ...position } = element;
    const value = parsed(text);
    if (value === undefined) yield { position, serialNumber: null, field: '', problem: 'not valid JSON' };
    else if (!isObject(value)) yield { position, serialNumber: null, field: '', problem: 'a JSON object is required' };
    else {
      const { fields, ...source } = byField(value, options);
      yield rowOf(position, fields, options, source, readObject);
    }
  }
  if (!hasRows) throw new InvalidInput({ what: 'no rows', names: [] });
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
function byField(value: Readonly<Record<string, unknown>>, { mapping, dropped }: ReadOptions) {
  const fields: Record<string, unknown> = {};
  let [column, hasSecrets] = ['', false];
  const names = Object.keys(value);
  for (const [index, field] of assignedFields(names, mapping).entries()) {
    const name = names[index]!;
    const content = value[name];
    if (isSecretValue(name, content)) {
      if (content === null || content === '') continue;
      dropped.note(name);
      hasSecrets = true;
    } else if (field !== null && (name === field || fields[field] === undefined)) {
      fields[field] = content;
      if (field === 'serialNumber') column = name;
    }
  }
  return { fields, column, hasSecrets };
}
