/**
 * Files of rows, whatever program wrote them: bytes in; rows with line numbers, a header, what was guessed and what is doubtful out. The
 * command line and the console share it; it has no I/O.
 */
import type { ColumnChoice, RowCondition } from './choices.ts';
import { assignColumns, type TableColumn } from './columns.ts';
import { InvalidInput } from './fault.ts';
import { columnNamed, type FieldSet, meaningsOf, nameKey } from './fields.ts';
import { type OpenInput, openInput, STANDARD_INPUT } from './open.ts';
import type { RawRow, RawRows, TableFormat } from './raw.ts';
import { RowReader } from './row-reader.ts';
import { DroppedSecrets, isDataLine, isSecretName } from './secrets.ts';
import type { Doubt, TableRow } from './table-row.ts';
import { textOfCell, usualDigits } from './values.ts';

/** How a file is read. */
export interface TableOptions<Field extends string> {
  /** Name of the file: its ending may show the format. */
  readonly file: string;
  /** The fields that the rows are read for: `deviceFields`, `personFields`, `listFields`. */
  readonly fields: FieldSet<Field>;
  /** Null detects it. */
  readonly format?: TableFormat | null;
  /** From `encodingNamed`; null detects UTF-8 and UTF-16. */
  readonly encoding?: string | null;
  /** Names of the columns of a file without a header row (`--columns`). A function gets the cells of the first line. */
  readonly columns?: readonly string[] | ((first: readonly string[]) => readonly string[] | null) | null;
  /** Which column a field is read from (`--map`): `parseMap`. */
  readonly map?: readonly ColumnChoice<Field>[];
  /** Which rows are read (`--where`): `parseWhere`. */
  readonly where?: readonly RowCondition[];
  /** Fields that the file must have: no flag gives them. Of several in one entry, one is enough. */
  readonly required?: readonly (readonly Field[])[];
  /** A person looks at the columns and completes the choices: nothing is required, and two columns for one field are not a fault. */
  readonly isDraft?: boolean;
  /** Why a line of cells is not valid as a whole; null if it is. */
  readonly checkLine?: (names: readonly string[], cells: readonly string[]) => string | null;
  /** The preset that gives a file what it lacks: `helpfulPreset`. */
  readonly helpful?: (format: TableFormat, names: readonly string[], missing: readonly string[]) => string | null;
  /** The field of a file that has one column and no header row: a plain list. */
  readonly plain?: Field;
}

/** The detected properties. */
export interface TableShape {
  readonly format: TableFormat;
  /** Name in lower case, such as `utf-8`; null for a workbook. */
  readonly encoding: string | null;
  /** Null if the file has no cells of text. */
  readonly separator: string | null;
  /** Line of the header row, counted from 1; null if the file has none. */
  readonly headerLine: number | null;
}

/** A file that is being read. */
export interface Table<Field extends string> {
  readonly shape: TableShape;
  readonly columns: readonly TableColumn<Field>[];
  /** The first rows, at most `sampledRows`: for the preview. They are part of `rows` as well. */
  readonly sample: readonly TableRow<Field>[];
  /** Doubtful readings: complete when the rows are read. */
  readonly doubts: readonly Doubt[];
  /** The rows, once. They throw `InvalidInput` if the rest cannot be read. */
  readonly rows: AsyncGenerator<TableRow<Field>>;
  /** Secrets in the rows that were read. */
  readonly dropped: DroppedSecrets;
  /** Rows that `where` has left out. */
  readonly leftOut: number;
  /** Bytes of the rows that were read, about 4 KiB more or less. */
  readonly consumed: number;
  /** Line of the first bytes that are not valid in the encoding; null if there are none. Their text has U+FFFD. */
  readonly invalidLine: number | null;
}

/** Rows that are looked at before the first one is passed on. */
export const sampledRows = 50;
const MOST_NAMES = 2_000;

/** Reads the start of a file, and assigns its columns. Throws `InvalidInput`. */
export async function openTable<Field extends string>(
  bytes: AsyncIterable<Uint8Array>,
  options: TableOptions<Field>,
): Promise<Table<Field>> {
  const { file, fields, format = null, encoding = null, map = [], where = [], isDraft = false } = options;
  const dropped = new DroppedSecrets();
  const named = new Set([...map, ...where].map(({ column }) => nameKey(column)));
  const isKnown = (name: string) =>
    meaningsOf(fields, name).length > 0 || named.has(nameKey(name)) || /^\s*tag:/i.test(name);
  const opened = await openInput(bytes, { file, format, encoding, isKnown, dropped });
  const { first, rest } = await sampleOf(opened, file === STANDARD_INPUT ? 1 : sampledRows);
  const found = namesOf(opened, first, options);
  // A line with another number of cells may have a secret in the place of another value.
  const isWhole = (row: RawRow) =>
    opened.hasPlaces || !('cells' in row) || row.cells.length === found.names.length || !found.names.some(isSecretName);
  const valuesOf = (index: number) => first.filter(isWhole).flatMap(row => textAt(row, index, found.names));
  const { columns, doubts } = assignColumns(found.names, {
    fields,
    map,
    valuesOf,
    hasObjects: found.hasObjects === true,
    isDraft,
  });
  if (!isDraft) checkRequired(columns, options, opened.format, found.names);
  const conditions = where.map(({ column, values }) => ({ index: columnNamed(found.names, column), column, values }));
  const absent = conditions.filter(({ index }) => index < 0).map(({ column }) => column);
  if (absent.length > 0)
    throw new InvalidInput({ what: 'columns absent', columns: absent, names: shownNames(found.names) });
  const { checkLine } = options;
  const reader = new RowReader<Field>({
    fields,
    faultOf: checkLine === undefined ? null : cells => checkLine(found.names, cells),
    columns,
    conditions,
    dropped,
    separator: opened.separator,
    isOpenEnded: opened.hasPlaces ? 'places' : found.hasHeader ? null : 'last cells',
    digits: columns.map(({ field }, index) => (field === 'serialNumber' ? usualDigits(valuesOf(index)) : null)),
    doubts: [...doubts, ...opened.remarks.map(message => ({ message }))],
  });
  const headerLine = found.hasHeader ? (opened.header?.line ?? null) : null;
  return {
    shape: { format: opened.format, encoding: opened.input?.encoding ?? null, separator: opened.separator, headerLine },
    columns,
    sample: first.flatMap(row => reader.preview(row) ?? []),
    doubts: reader.doubts,
    rows: rowsOf(first, rest, reader, found.names),
    dropped,
    get leftOut() {
      return reader.leftOut;
    },
    get consumed() {
      return opened.input?.consumed ?? 0;
    },
    get invalidLine() {
      return opened.input?.invalidLine ?? null;
    },
  };
}

/** The first rows below the header row, `least` of them and those that came with them, and the others. */
async function sampleOf({ rows, header }: OpenInput, least: number) {
  const first: RawRow[] = [];
  while (first.length < least) {
    const { value, done } = await rows.next();
    if (done) break;
    for (const row of value) if (header === null || row.position.line > header.line) first.push(row);
  }
  return { first, rest: rows };
}

interface Names {
  readonly names: readonly string[];
  readonly hasHeader: boolean;
  readonly hasObjects?: true;
}

/** The names of the columns: those of a person or a preset, of the header row, or of the properties of the first objects. */
function namesOf<Field extends string>(
  { header, format }: OpenInput,
  first: readonly RawRow[],
  options: TableOptions<Field>,
): Names {
  const row = first.find(each => !('cells' in each) || each.cells.some(cell => cell.trim() !== ''));
  if (row === undefined) {
    if (header !== null) return { names: header.names, hasHeader: true };
    throw new InvalidInput({ what: 'no rows', names: [] });
  }
  if ('object' in row) return objectNames(first);
  if (header !== null) return { names: header.names, hasHeader: true };
  if ('problem' in row) {
    if (format !== 'csv' && format !== 'xlsx') return objectNames(first);
    throw new InvalidInput({ what: 'header', line: row.position.line, problem: row.problem });
  }
  const { columns, plain } = options;
  const given = typeof columns === 'function' ? columns(row.cells) : columns;
  if (given) return { names: given, hasHeader: false };
  if (plain !== undefined && row.cells.length === 1) return { names: [plain], hasHeader: false };
  return { names: row.cells, hasHeader: true };
}

function objectNames(first: readonly RawRow[]): Names {
  const names = new Set(first.flatMap(row => ('object' in row ? Object.keys(row.object) : [])));
  return { names: [...names].slice(0, MOST_NAMES), hasHeader: false, hasObjects: true };
}

/** Names for a message: none if the line is one of data, which may hold secrets. */
const shownNames = (names: readonly string[]): readonly string[] => (isDataLine(names) ? [] : names);

function textAt(row: RawRow, index: number, names: readonly string[]): string[] {
  if ('cells' in row) return [textOfCell(row.cells[index] ?? '')];
  const value = 'object' in row ? row.object[names[index]!] : null;
  return typeof value === 'string' || typeof value === 'number' ? [String(value)] : [];
}

function checkRequired<Field extends string>(
  columns: readonly TableColumn<Field>[],
  { fields, required = [], helpful }: TableOptions<Field>,
  format: TableFormat,
  names: readonly string[],
): void {
  const has = (field: Field) => columns.some(column => column.field === field || column.also === field);
  const missing = required.filter(group => !group.some(has)).map(group => group.join(' or '));
  if (missing.length === 0) return;
  const rejected = columns.flatMap(({ name, field, isSecret }) => {
    if (field !== null || isSecret || isSecretName(name)) return [];
    const meaning = meaningsOf(fields, name).find(each => missing.includes(each.field));
    const rule = fields.find(each => each.field === meaning?.field);
    return rule === undefined ? [] : [{ column: name, why: rule.isJudged ? ('opaque' as const) : ('values' as const) }];
  });
  throw new InvalidInput({
    what: 'fields missing',
    fields: missing,
    names: shownNames(names),
    looksLike: helpful?.(format, names, missing) ?? null,
    rejected,
  });
}

async function* rowsOf<Field extends string>(
  first: readonly RawRow[],
  rest: RawRows,
  reader: RowReader<Field>,
  names: readonly string[],
): AsyncGenerator<TableRow<Field>> {
  let count = 0;
  const read = function* (rows: readonly RawRow[]): Generator<TableRow<Field>> {
    for (const each of rows) {
      const row = reader.read(each);
      if (row === null) continue;
      count++;
      yield row;
    }
  };
  yield* read(first);
  for await (const rows of rest) yield* read(rows);
  if (count > 0) return;
  throw new InvalidInput(
    reader.leftOut > 0
      ? { what: 'all left out', count: reader.leftOut }
      : { what: 'no rows', names: shownNames(names) },
  );
}
