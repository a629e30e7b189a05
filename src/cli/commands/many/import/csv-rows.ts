/** The rows of a CSV file. */
import { cellText } from '../../../../contract/csv.ts';
import type { CsvRecord } from '../../../../contract/csv-reader.ts';
import { readCells, requiredFields } from '../../../../contract/readers.ts';
import { isTagName, tagNameWords } from '../../../../contract/tags.ts';
import { tagColumn } from '../../../../contract/values.ts';
import { type Fault, usage } from '../../../fault.ts';
import { readCsv } from '../../../jobs/csv.ts';
import { type DroppedSecrets, fewOf, isSecretName, type RegistrationField } from './columns.ts';
import { absentColumns, assignedFields, likelyPreset, type Mapping, mappingWords, type Preset } from './mapping.ts';
import { type Defaults, type Row, rowOf } from './row.ts';

/** How a file is read. */
export interface ReadOptions {
  /** Of the file, for messages. */
  readonly name: string;
  readonly mapping: Mapping;
  /** Values for rows that have none. */
  readonly defaults: Defaults;
  readonly dropped: DroppedSecrets;
  /** Called with what is read from which column. */
  readonly explain: (text: string) => void;
  /** Called with the names of ignored columns. */
  readonly notice: (text: string) => void;
}

interface Columns {
  readonly fields: readonly (RegistrationField | null)[];
  readonly names: readonly string[];
  /** Names of tags: null for every other column. */
  readonly tags: readonly (string | null)[];
  /** Some columns hold secrets: a line with other cells than the header row may have one in the place of a serial number. */
  readonly haveSecrets: boolean;
}

type Cells = Extract<CsvRecord, { readonly cells: unknown }>;

/** The rows of the records. Throws a usage fault if the header row is missing or not enough. */
export async function* csvRows(chunks: AsyncIterable<string>, options: ReadOptions): AsyncGenerator<Row> {
  const { name, mapping } = options;
  let columns: Columns | null = null;
  for await (const record of readCsv(chunks)) {
    const { line } = record;
    if ('problem' in record) {
      if (columns === null)
        throw usage(`${name}, line ${line}: ${record.problem}`, 'the first line must be a header row');
      yield { position: { line }, serialNumber: null, field: '', problem: record.problem };
      continue;
    }
    if (mapping.hasComments && record.cells[0]!.trimStart().startsWith('#')) continue;
    if (columns !== null) yield lineOf(record, columns, options);
    else {
      const names = mapping.namesWithoutHeader(record.cells);
      columns = columnsOf(names ?? record.cells, options);
      if (names !== null) yield lineOf(record, columns, options);
    }
  }
}

function lineOf({ line, cells }: Cells, { fields, names, tags, haveSecrets }: Columns, options: ReadOptions): Row {
  const values: Record<string, unknown> = {};
  for (const [index, field] of fields.entries()) {
    const cell = cells[index];
    if (field !== null) values[field] = cell === undefined ? undefined : cellText(cell);
    else if (isSecretName(names[index]!) && cell !== undefined && cell.trim() !== '')
      options.dropped.note(names[index]!);
  }
  const found = tagCells(cells, tags);
  if (found.length > 0) values.tags = Object.fromEntries(found);
  const extra = cells.slice(fields.length).some(cell => cell.trim() !== '');
  if (!extra && !(haveSecrets && cells.length < fields.length))
    return rowOf({ line }, values, options.defaults, readCells);
  return {
    position: { line },
    serialNumber: haveSecrets ? null : String(values.serialNumber ?? '') || null,
    field: '',
    problem: `the line has ${cells.length} cells, the header row ${fields.length}: does a cell contain a comma and no quotes?`,
  };
}

/** Tags and their values in a line; an empty cell is not a tag. */
const tagCells = (cells: readonly string[], tags: readonly (string | null)[]): [name: string, value: string][] =>
  tags.flatMap((name, index): [string, string][] => {
    const text = cellText(cells[index] ?? '');
    return name === null || text.trim() === '' ? [] : [[name, text]];
  });

function columnsOf(names: readonly string[], options: ReadOptions): Columns {
  const { name, mapping, defaults, explain, notice } = options;
  const absent = absentColumns(names, mapping);
  if (absent.length > 0) throw usage(`${name} has no column ${absent.join(', ')}`, headerHint(names));
  // Tags have a column each: one cell cannot hold all of them.
  const fields = assignedFields(names, mapping).map((field): RegistrationField | null =>
    field === 'tags' ? null : field,
  );
  const tags = names.map((cell, index) => (fields[index] === null ? tagOfColumn(cell, name) : null));
  const missing = requiredFields.filter(field => !fields.includes(field) && !(field in defaults));
  if (missing.length > 0) throw lacking(name, missing, names, mapping);
  const doubledTag = firstDouble(tags);
  const twice = firstDouble(fields) ?? (doubledTag && tagColumn + doubledTag);
  if (twice) throw usage(`${name} has two columns for ${twice}`, 'remove one of them');
  const secret = names.map(isSecretName);
  const ignored = names.filter(
    (cell, index) => fields[index] === null && tags[index] === null && !secret[index] && cell.trim() !== '',
  );
  const meanings = fields.map((field, index) => field ?? (tags[index] === null ? null : `tag ${tags[index]}`));
  explain(mappingWords(names, meanings, defaults));
  if (ignored.length) notice(`ignored columns: ${fewOf(ignored.map(cell => cell.trim()))}`);
  return { fields, names: names.map(cell => cell.trim()), tags, haveSecrets: secret.includes(true) };
}

/** The first text that is there a second time. */
function firstDouble<T extends string>(texts: readonly (T | null)[]): T | undefined {
  const found = new Set<T>();
  for (const text of texts) {
    if (text !== null && found.has(text)) return text;
    if (text !== null) found.add(text);
  }
  return undefined;
}

/** The name of the tag that a column `tag:NAME` holds; null for any other column. Throws a usage fault if it cannot be one. */
function tagOfColumn(cell: string, file: string): string | null {
  const column = cell.trim();
  if (column.slice(0, tagColumn.length).toLowerCase() !== tagColumn) return null;
  const name = column.slice(tagColumn.length).trim();
  if (isTagName(name)) return name;
  throw usage(
    `${file} has a column "${column.slice(0, 60)}", which is not a name of a tag`,
    `a name is ${tagNameWords}`,
  );
}

const flagOf: Readonly<Partial<Record<RegistrationField, string>>> = {
  deviceType: '--type',
  manufacturer: '--manufacturer',
  model: '--model',
};

const makers: Readonly<Record<Preset, string>> = {
  yubico: 'Yubico',
  'entra-oath': 'Microsoft Entra',
  'snipe-it': 'Snipe-IT',
  pskc: 'key packages',
};

function lacking(
  name: string,
  missing: readonly RegistrationField[],
  names: readonly string[],
  mapping: Mapping,
): Fault {
  const preset = likelyPreset(names);
  const flags = missing.map(field => flagOf[field]);
  const hint =
    mapping.preset === null && preset !== null
      ? `it looks like a file of ${makers[preset]}: add --map ${preset}`
      : mapping.preset !== null && !flags.includes(undefined)
        ? `for all lines: ${flags.map(flag => `${flag} …`).join(' ')}`
        : headerHint(names);
  return usage(`${name} has no column for ${missing.join(', ')}`, hint);
}

/** The first line is quoted only if it can be a header row: a line of data may hold secrets. */
function headerHint(names: readonly string[]): string {
  const needed = 'the first line must be a header row with the names of the columns';
  const isData = names.some(name => /\d{3}|[=/+]/.test(name) || name.trim().length > 40);
  return isData ? needed : `${needed}; it is: ${names.join(', ').slice(0, 200)}`;
}
