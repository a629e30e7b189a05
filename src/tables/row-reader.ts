/** Turns rows of a format into rows with fields: secrets are dropped, conditions applied, and what is doubtful is noted. */
import type { TableColumn } from './columns.ts';
import { type ColumnValues, type FieldSet, meaningsOf } from './fields.ts';
import { isBlank } from './header.ts';
import type { RawRow } from './raw.ts';
import { type DroppedSecrets, isSecretValue, SecretColumns } from './secrets.ts';
import type { Doubt, TableRow } from './table-row.ts';
import { mayLackZeros, textOfCell } from './values.ts';

/** How rows are read. */
export interface RowReading<Field extends string> {
  readonly fields: FieldSet<Field>;
  readonly columns: readonly TableColumn<Field>[];
  readonly conditions: readonly {
    readonly index: number;
    readonly column: string;
    readonly values: readonly string[];
  }[];
  readonly dropped: DroppedSecrets;
  readonly separator: string | null;
  /** Which rows may have fewer cells than columns although the file has secrets. */
  readonly isOpenEnded: 'places' | 'last cells' | null;
  /** Digits of the numbers of a column, if all have the same. */
  readonly digits: readonly (number | null)[];
  readonly doubts: readonly Doubt[];
  /** Why a line of cells is not valid as a whole; null if it is. */
  readonly faultOf: ((cells: readonly string[]) => string | null) | null;
}

const MOST_DOUBTS = 20;
/** First cells of the line below a report. */
const totals = /^(grand )?(total|totals|sum|summe|gesamt|gesamtsumme|somme|totale|suma|soma)s?:?$/i;
const separators: Readonly<Record<string, string>> = {
  ',': 'a comma',
  ';': 'a semicolon',
  '\t': 'a tab',
  '|': 'a bar',
};

type Values<Field extends string> = Partial<Record<Field, unknown>>;

/** Reads the rows of a file, in their order. */
export class RowReader<Field extends string> {
  readonly doubts: Doubt[];
  /** Rows that the conditions have left out. */
  leftOut = 0;
  readonly #reading: RowReading<Field>;
  readonly #secrets: SecretColumns;
  readonly #properties = new Map<string, TableColumn<Field>>();
  /** Fields that every column with their names gives. */
  readonly #every: ReadonlySet<Field>;
  /** Cells without which a row with secrets is not whole. */
  readonly #fewest: number;
  #isPreview = false;

  constructor(reading: RowReading<Field>) {
    const { columns, isOpenEnded } = reading;
    this.#reading = reading;
    this.doubts = [...reading.doubts];
    this.#secrets = new SecretColumns(
      columns.map(({ name }) => name),
      index => columns[index]!.field === null && columns[index]!.tag === null,
    );
    this.#every = new Set(reading.fields.flatMap(({ field, isEvery }) => (isEvery ? [field] : [])));
    for (const column of columns) this.#properties.set(column.name, column);
    const needed = columns.findLastIndex(({ field, tag, isSecret }) => field !== null || tag !== null || isSecret);
    this.#fewest = isOpenEnded === 'places' ? 0 : isOpenEnded === 'last cells' ? needed + 1 : columns.length;
  }

  /** The row; null if it is not read. */
  read(raw: RawRow): TableRow<Field> | null {
    if ('problem' in raw)
      return { ...nothing, values: {} as Values<Field>, position: raw.position, problem: raw.problem };
    return 'cells' in raw ? this.#cells(raw) : this.#object(raw);
  }

  /** The row as `read` returns it, without a note of its secrets or doubts. */
  preview(raw: RawRow): TableRow<Field> | null {
    this.#isPreview = true;
    const { leftOut } = this;
    const row = this.read(raw);
    this.leftOut = leftOut;
    this.#isPreview = false;
    return row;
  }

  #cells({ position, cells }: Extract<RawRow, { cells: unknown }>): TableRow<Field> | null {
    const { columns, conditions } = this.#reading;
    if (isBlank(cells) || this.#isTotal(position.line, cells)) return null;
    const hasSecrets = this.#secrets.areIn(cells);
    const isWhole = hasSecrets
      ? cells.length >= this.#fewest && cells.length <= columns.length
      : cells.length <= columns.length || isBlank(cells.slice(columns.length));
    if (
      isWhole &&
      conditions.length > 0 &&
      !conditions.every(({ index, values }) => values.includes((cells[index] ?? '').trim().toLowerCase()))
    ) {
      this.leftOut++;
      return null;
    }
    const values: Values<Field> = {};
    const tags: Record<string, string> = {};
    for (const [index, { name, field, also, tag }] of columns.entries()) {
      const cell = cells[index];
      if (cell === undefined) continue;
      if (also !== null) values[also] = textOfCell(cell);
      if (this.#secrets.isSecret(index, cell)) {
        if (cell.trim() !== '') this.#note(name);
      } else if (field !== null) this.#put(values, field, name, this.#checked(index, position.line, textOfCell(cell)));
      else if (tag !== null && cell.trim() !== '') tags[tag] = textOfCell(cell);
    }
    const fault = this.#reading.faultOf?.(cells) ?? null;
    if (fault !== null) return { ...nothing, values: {} as Values<Field>, position, problem: fault };
    if (isWhole) return { position, values, tags, problem: null, hasSecrets };
    const problem = cellsProblem(cells.length, columns.length, this.#reading.separator);
    return { position, values: hasSecrets ? ({} as Values<Field>) : values, tags, problem, hasSecrets };
  }

  #put(values: Values<Field>, field: Field, name: string, value: unknown): void {
    if (!this.#every.has(field)) values[field] = value;
    else values[field] = [...((values[field] as ColumnValues | undefined) ?? []), [name, value]] satisfies ColumnValues;
  }

  #checked(index: number, line: number, text: string): string {
    const digits = this.#reading.digits[index] ?? null;
    if (mayLackZeros(text, digits))
      this.#doubt({
        line,
        column: this.#reading.columns[index]!.name,
        message: `${text.trim()} has fewer digits than the others (${digits}): leading zeros may be lost`,
      });
    return text;
  }

  #isTotal(line: number, cells: readonly string[]): boolean {
    const filled = cells.map(cell => cell.trim()).filter(cell => cell !== '');
    if (cells.length < 2 || filled.length > 2 || !totals.test(filled[0]!) || !/^[\d.,]*$/.test(filled[1] ?? ''))
      return false;
    this.#doubt({ line, message: 'the line is a total and is not read' });
    return true;
  }

  #object({ position, object }: Extract<RawRow, { object: unknown }>): TableRow<Field> | null {
    const { conditions } = this.#reading;
    const textOf = (column: string) =>
      String(object[column] ?? '')
        .trim()
        .toLowerCase();
    if (!conditions.every(({ index, values }) => values.includes(textOf(this.#reading.columns[index]!.name)))) {
      this.leftOut++;
      return null;
    }
    const values: Values<Field> = {};
    const tags: Record<string, string> = {};
    let hasSecrets = false;
    for (const [name, value] of Object.entries(object)) {
      const { field, also, tag } = this.#property(name);
      if (also !== null) values[also] = value;
      if (isSecretValue(name, value)) {
        if (value === null || value === '') continue;
        this.#note(name);
        hasSecrets = true;
      } else if (field !== null && (name === field || values[field] === undefined || this.#every.has(field)))
        this.#put(values, field, name, value);
      else if (tag !== null && typeof value === 'string' && value.trim() !== '') tags[tag] = value;
    }
    return { position, values, tags, problem: null, hasSecrets };
  }

  /** A property; one that the first objects lack has the field that its name means. */
  #property(name: string): Pick<TableColumn<Field>, 'field' | 'also' | 'tag'> {
    const known = this.#properties.get(name.trim());
    if (known !== undefined) return known;
    const chosen = this.#reading.columns.flatMap(({ field, isChosen }) => (isChosen && field !== null ? [field] : []));
    const meaning = meaningsOf(this.#reading.fields, name).find(
      ({ isWeak, field }) => !isWeak && !chosen.includes(field),
    );
    return { field: meaning?.field ?? null, also: null, tag: null };
  }

  #note(name: string): void {
    if (!this.#isPreview) this.#reading.dropped.note(name);
  }

  #doubt(doubt: Doubt): void {
    if (!this.#isPreview && this.doubts.length < MOST_DOUBTS) this.doubts.push(doubt);
  }
}

const nothing = { tags: {}, hasSecrets: false } as const;

/** Why a line of so many cells is not valid. */
function cellsProblem(found: number, expected: number, separator: string | null): string {
  if (expected === 1) return `the line has ${found} cells, expected 1`;
  const mark = separators[separator ?? ''] ?? 'a separator';
  return `the line has ${found} cells, the header row ${expected}: does a cell contain ${mark} and no quotes?`;
}
