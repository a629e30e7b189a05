/** How the rows of a roster are read, and what makes a row invalid. The caller has the words for it. */
import { cellText } from '../../contract/csv.ts';
import { personKey } from '../../contract/person-key.ts';
import { type DeviceType, deviceTypes } from '../../contract/values.ts';
import type { CsvProblem } from '../../tables/csv-reader.ts';
import { nameKey } from '../../tables/fields.ts';
import { SecretColumns } from '../../tables/secrets.ts';
import { type Person, readUserId } from './people.ts';

/** A column of the roster. Only `userId` is required. */
type Column = 'userId' | 'name' | 'count' | 'type';

/** Why a line of the roster is not valid. */
export type RosterFault =
  | { readonly what: 'column twice'; readonly column: Column }
  | { readonly what: 'column missing' | 'name' | 'type' | 'count' | 'lines' }
  /** More cells than the header row has. */
  | { readonly what: 'cells'; readonly found: number; readonly expected: number }
  /** `text` cannot identify a person. */
  | { readonly what: 'userId'; readonly text: string }
  /** The person is already in the line `earlier`. `type` is that of the second row. */
  | {
      readonly what: 'person twice';
      readonly userId: string;
      readonly earlier: number;
      readonly type: DeviceType | null;
    };

/** Why a file is not a roster. */
export type FileFault =
  /** A line is not valid. */
  | { readonly line: number; readonly fault: RosterFault | { readonly what: CsvProblem } }
  /** The line has bytes that are not valid in the encoding, a name in lower case. */
  | { readonly line: number; readonly fault: { readonly what: 'encoding'; readonly encoding: string } }
  | { readonly line: null; readonly fault: { readonly what: 'empty' | 'too large' | 'unreadable' } };

/** Largest values of a roster: characters of a name, keys of a person, lines without the header. */
export const rosterBounds = { name: 200, keys: 100, lines: 100_000 } as const;

/** Names of columns, in lower case and without punctuation. */
const columnNames: Readonly<Record<string, Column>> = {
  userid: 'userId',
  user: 'userId',
  name: 'name',
  count: 'count',
  type: 'type',
  devicetype: 'type',
};

/** Reads a roster row by row. The first row has the names of the columns. */
export class RosterReader {
  readonly people: Person[] = [];
  /** Columns of the header row that a roster does not use. */
  unused: readonly string[] = [];
  #columns: readonly (Column | null)[] | null = null;
  /** Some columns hold secrets: a line with another number of cells may have one in the place of a person. */
  #secrets: SecretColumns | null = null;
  /** By user: the lines that name the user, by type. */
  readonly #lines = new Map<string, Map<DeviceType | null, number>>();

  /** Whether the names of the columns were read. */
  get hasHeader(): boolean {
    return this.#columns !== null;
  }

  /** Takes the cells of a line, counted from 1. Returns why it is not valid; null if it is. */
  add(line: number, cells: readonly string[]): RosterFault | null {
    if (line > rosterBounds.lines + 1) return { what: 'lines' };
    return this.#columns === null ? this.#header(cells) : this.#row(line, cells, this.#columns);
  }

  #header(cells: readonly string[]): RosterFault | null {
    const columns = cells.map(cell => (Object.hasOwn(columnNames, nameKey(cell)) ? columnNames[nameKey(cell)]! : null));
    const column = columns.find((each, index) => each !== null && columns.indexOf(each) !== index);
    if (column) return { what: 'column twice', column };
    if (!columns.includes('userId')) return { what: 'column missing' };
    this.#columns = columns;
    this.#secrets = new SecretColumns(cells, index => columns[index] === null);
    this.unused = cells.filter((_, index) => columns[index] === null);
    return null;
  }

  #row(line: number, cells: readonly string[], columns: readonly (Column | null)[]): RosterFault | null {
    const isShifted = this.#secrets?.areIn(cells) ? cells.length !== columns.length : cells.length > columns.length;
    if (isShifted) return { what: 'cells', found: cells.length, expected: columns.length };
    const cell = (column: Column) => cellText(cells[columns.indexOf(column)] ?? '').trim();
    const userId = readUserId(cell('userId'));
    if (userId === null) return { what: 'userId', text: cell('userId') };
    const name = cell('name');
    if (name.length > rosterBounds.name) return { what: 'name' };
    const type = typeOf(cell('type'));
    if (type === undefined) return { what: 'type' };
    const wanted = countOf(cell('count'));
    if (wanted === null) return { what: 'count' };
    const person = { userId, name: name || null, type, wanted };
    const earlier = this.#earlier(line, person);
    if (earlier !== null) return { what: 'person twice', userId, earlier, type };
    this.people.push(person);
    return null;
  }

  /** A person has a row for each type, or one row for all. Returns the line that has the person already; null if none has. */
  #earlier(line: number, { userId, type }: Person): number | null {
    const name = personKey(userId);
    const lines = this.#lines.get(name) ?? new Map<DeviceType | null, number>();
    const earlier = lines.get(type) ?? lines.get(null) ?? (type === null ? [...lines.values()][0] : undefined);
    if (earlier === undefined) this.#lines.set(name, lines.set(type, line));
    return earlier ?? null;
  }
}

/** Null if the row names no type; undefined if it is not a type. */
function typeOf(text: string): DeviceType | null | undefined {
  return text === '' ? null : deviceTypes.find(known => known === text.toUpperCase());
}

function countOf(text: string): number | null {
  if (text === '') return 1;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  return value < 1 || value > rosterBounds.keys ? null : value;
}
