/** The roster: who gets keys, from a CSV file that is checked as a whole before the first key. */
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { cellText } from '../../../contract/csv.ts';
import { readBoundUser } from '../../../contract/readers.ts';
import { type DeviceType, deviceTypes } from '../../../contract/values.ts';
import { count } from '../../count.ts';
import { Fault, systemWords, usage } from '../../fault.ts';
import { safe } from '../../terminal/text.ts';
import { fewOf, plainName } from '../import/columns.ts';
import { readCsv } from '../import/csv.ts';
import { decode, TooLong } from '../import/input-text.ts';

/** A row of the roster: a person, and the keys that the person gets. */
export interface Person {
  readonly userId: string;
  /** As people read it; null if the roster has no name. */
  readonly name: string | null;
  /** Type of the keys; null accepts each type. */
  readonly type: DeviceType | null;
  /** How many keys the row is for. */
  readonly wanted: number;
}

type Column = 'userId' | 'name' | 'count' | 'type';

/** Names of columns, in lower case and without punctuation. */
const columnNames: Readonly<Record<string, Column>> = {
  userid: 'userId',
  user: 'userId',
  name: 'name',
  count: 'count',
  type: 'type',
  devicetype: 'type',
};

const longestName = 200;
const mostKeys = 100;
const mostLines = 100_000;
const columnsHint = 'the columns are userId, name, count and type; only userId is required';

/** The people of the file, in its order. Throws a usage fault that names the first invalid line. */
export async function readRoster(file: string, stdin: Readable): Promise<readonly Person[]> {
  const name = file === '-' ? 'standard input' : file;
  const roster = new Roster(name);
  try {
    const stream = file === '-' ? stdin : createReadStream(file);
    for await (const record of readCsv(decode(stream, () => undefined))) {
      if ('problem' in record) throw roster.fault(record.line, record.problem);
      roster.add(record.line, record.cells);
    }
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw usage(`${name} cannot be read: ${error instanceof TooLong ? error.message : systemWords(error)}`);
  }
  if (roster.people.length === 0) throw usage(`${name} has no people`, columnsHint);
  return roster.people;
}

class Roster {
  readonly people: Person[] = [];
  readonly #file: string;
  #columns: readonly Column[] | null = null;
  /** By user: the lines that name the user, by type. */
  readonly #lines = new Map<string, Map<DeviceType | null, number>>();

  constructor(file: string) {
    this.#file = file;
  }

  add(line: number, cells: readonly string[]): void {
    if (line > mostLines + 1)
      throw this.fault(line, `a roster has at most ${count(mostLines)} lines`, 'split it into several files');
    if (this.#columns === null) this.#columns = this.#columnsOf(line, cells);
    else this.#person(line, cells, this.#columns);
  }

  fault(line: number, problem: string, hint: string | null = null): Fault {
    return usage(`${this.#file}, line ${line}: ${problem}`, hint);
  }

  #columnsOf(line: number, cells: readonly string[]): readonly Column[] {
    const unknown = cells.filter(cell => columnNames[plainName(cell)] === undefined);
    if (unknown.length > 0)
      throw this.fault(
        line,
        `unknown columns: ${safe(fewOf(unknown.map(cell => cell.trim() || '(empty)')))}`,
        columnsHint,
      );
    const columns = cells.map(cell => columnNames[plainName(cell)]!);
    const twice = columns.find((column, index) => columns.indexOf(column) !== index);
    if (twice) throw this.fault(line, `two columns for ${twice}`, 'remove one of them');
    if (!columns.includes('userId')) throw this.fault(line, 'the column userId is missing', columnsHint);
    return columns;
  }

  #person(line: number, cells: readonly string[], columns: readonly Column[]): void {
    if (cells.length > columns.length)
      throw this.fault(
        line,
        `it has ${cells.length} cells, the header row ${columns.length}: does a cell contain a comma and no quotes?`,
      );
    const cell = (column: Column) => cellText(cells[columns.indexOf(column)] ?? '').trim();
    const outcome = readBoundUser({ userId: cell('userId') });
    if (!outcome.ok) throw this.fault(line, outcome.message);
    const { userId } = outcome.value;
    const name = cell('name');
    if (name.length > longestName) throw this.fault(line, `name has more than ${longestName} characters`);
    const person = {
      userId,
      name: name || null,
      type: this.#typeOf(line, cell('type')),
      wanted: this.#countOf(line, cell('count')),
    };
    this.#checkOnce(line, person);
    this.people.push(person);
  }

  #typeOf(line: number, text: string): DeviceType | null {
    const type = deviceTypes.find(known => known === text.toUpperCase());
    if (type === undefined && text !== '') throw this.fault(line, `type must be ${deviceTypes.join(' or ')}`);
    return type ?? null;
  }

  #countOf(line: number, text: string): number {
    if (text === '') return 1;
    const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
    if (value < 1 || value > mostKeys) throw this.fault(line, `count must be a whole number from 1 to ${mostKeys}`);
    return value;
  }

  /** A person has a row for each type, or one row for all. */
  #checkOnce(line: number, { userId, type }: Person): void {
    const lines = this.#lines.get(userId) ?? new Map<DeviceType | null, number>();
    const earlier = lines.get(type) ?? lines.get(null) ?? (type === null ? [...lines.values()][0] : undefined);
    if (earlier !== undefined)
      throw this.fault(
        line,
        `${safe(userId)} is already in line ${earlier}${type === null ? '' : ` with type ${type}`}`,
        'give several keys of one type with the column count',
      );
    this.#lines.set(userId, lines.set(type, line));
  }
}
