/** The rows of a CSV file. */
import { cellText } from '../../contract/csv.ts';
import type { CsvRecord } from '../../contract/csv-reader.ts';
import { readCells, requiredFields } from '../../contract/readers.ts';
import { isTagName } from '../../contract/tags.ts';
import { tagColumn } from '../../contract/values.ts';
import type { DroppedSecrets, RegistrationField } from './columns.ts';
import { readCsv } from './csv.ts';
import { InvalidInput } from './fault.ts';
import { absentColumns, assignedFields, likelyPreset, type Mapping } from './mapping.ts';
import { type Row, type RowRules, rowOf } from './row.ts';
import { SecretColumns } from './secret-names.ts';

/** A column of a file: what is read from it. */
export interface ReadColumn {
  readonly name: string;
  /** Null if it is not read. */
  readonly field: RegistrationField | null;
  /** Name of the tag that it holds; null for any other column. */
  readonly tag: string | null;
}

/** How a file is read. */
export interface ReadOptions extends RowRules {
  readonly mapping: Mapping;
  readonly dropped: DroppedSecrets;
  /** Called once with the columns of the file, before its first row. */
  readonly onColumns?: (columns: readonly ReadColumn[]) => void;
}

interface Columns {
  readonly fields: readonly (RegistrationField | null)[];
  readonly names: readonly string[];
  /** Names of tags: null for every other column. */
  readonly tags: readonly (string | null)[];
  /** In a file with secrets, a line with another number of cells may have one in the place of a serial number. */
  readonly secrets: SecretColumns;
}

type Cells = Extract<CsvRecord, { readonly cells: unknown }>;

/** The rows of the records. Throws `InvalidInput` if the header row is missing or not enough. */
export async function* csvRows(chunks: AsyncIterable<string>, options: ReadOptions): AsyncGenerator<Row> {
  const { mapping } = options;
  let columns: Columns | null = null;
  let hasRows = false;
  for await (const record of readCsv(chunks)) {
    const { line } = record;
    if ('problem' in record) {
      if (columns === null) throw new InvalidInput({ what: 'header', line, problem: record.problem });
      hasRows = true;
      yield { position: { line }, serialNumber: null, field: '', problem: record.problem };
      continue;
    }
    if (isComment(record, mapping)) continue;
    const names = columns === null ? mapping.namesWithoutHeader(record.cells) : null;
    const isHeader = columns === null && names === null;
    columns ??= columnsOf(names ?? record.cells, options);
    hasRows ||= !isHeader;
    if (!isHeader) yield lineOf(record, columns, options);
  }
  if (!hasRows) throw new InvalidInput({ what: 'no rows', names: columns?.names ?? [] });
}

const isComment = ({ cells }: Cells, { hasComments }: Mapping): boolean =>
  hasComments && cells[0]!.trimStart().startsWith('#');

/** The names of the columns, and the cells of the first line. */
export async function csvHead(
  chunks: AsyncIterable<string>,
  mapping: Mapping,
): Promise<[readonly string[], Cells['cells']]> {
  let names: readonly string[] | null = null;
  for await (const record of readCsv(chunks)) {
    if ('problem' in record || isComment(record, mapping)) continue;
    if (names !== null) return [names, record.cells];
    const known = mapping.namesWithoutHeader(record.cells);
    if (known !== null) return [known, record.cells];
    names = record.cells;
  }
  return [names ?? [], []];
}

function lineOf({ line, cells }: Cells, columns: Columns, options: ReadOptions): Row {
  const { fields, names, tags, secrets } = columns;
  const haveSecrets = secrets.areIn(cells);
  const values: Record<string, unknown> = {};
  for (const [index, field] of fields.entries()) {
    const cell = cells[index];
    if (cell !== undefined && secrets.isSecret(index, cell)) {
      if (cell.trim() !== '') options.dropped.note(names[index]!);
    } else if (field !== null) values[field] = cell === undefined ? undefined : cellText(cell);
  }
  const found = tagCells(cells, tags);
  if (found.length > 0) values.tags = Object.fromEntries(found);
  const extra = cells.slice(fields.length).some(cell => cell.trim() !== '');
  const source = { column: names[fields.indexOf('serialNumber')] ?? '', hasSecrets: haveSecrets };
  if (haveSecrets ? cells.length === fields.length : !extra) return rowOf({ line }, values, options, source, readCells);
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

function columnsOf(names: readonly string[], { mapping, defaults, onColumns }: ReadOptions): Columns {
  const absent = absentColumns(names, mapping);
  if (absent.length > 0) throw new InvalidInput({ what: 'columns absent', columns: absent, names });
  // Tags have a column each: one cell cannot hold all of them.
  const fields = assignedFields(names, mapping).map((field): RegistrationField | null =>
    field === 'tags' ? null : field,
  );
  const tags = names.map((cell, index) => (fields[index] === null ? tagOfColumn(cell) : null));
  const missing = requiredFields.filter(field => !fields.includes(field) && !(field in defaults));
  if (missing.length > 0)
    throw new InvalidInput({ what: 'fields missing', fields: missing, names, looksLike: likelyPreset(names) });
  const doubledTag = firstDouble(tags);
  const column = firstDouble(fields) ?? (doubledTag && tagColumn + doubledTag);
  if (column) throw new InvalidInput({ what: 'column twice', column });
  onColumns?.(names.map((cell, index) => ({ name: cell.trim(), field: fields[index]!, tag: tags[index]! })));
  const secrets = new SecretColumns(names, index => fields[index] === null && tags[index] === null);
  return { fields, names: names.map(cell => cell.trim()), tags, secrets };
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

/** The name of the tag that a column `tag:NAME` holds; null for any other column. Throws `InvalidInput` if it cannot be one. */
function tagOfColumn(cell: string): string | null {
  const column = cell.trim();
  if (column.slice(0, tagColumn.length).toLowerCase() !== tagColumn) return null;
  const name = column.slice(tagColumn.length).trim();
  if (isTagName(name)) return name;
  throw new InvalidInput({ what: 'tag name', column: column.slice(0, 60) });
}
