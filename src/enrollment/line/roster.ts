/** How the rows of a roster are read, and what makes a row invalid. The caller has the words for it. */
import { personKey } from '../../contract/person-key.ts';
import { faultOf } from '../../contract/readers.ts';
import { type DeviceType, deviceTypes } from '../../contract/values.ts';
import type { InputFault } from '../../tables/fault.ts';
import type { PersonFile, PersonRow } from '../../tables/persons.ts';
import { type Person, readUserId } from './people.ts';

/** Why a row of the roster is not valid. */
export type RosterFault =
  | { readonly what: 'name' | 'type' | 'count' | 'lines' | 'printedNumber' }
  /** The line as a whole cannot be read. */
  | { readonly what: 'unread'; readonly problem: string }
  /** `text` cannot identify a person. */
  | { readonly what: 'userId'; readonly text: string }
  /** The person is already in the line `earlier`, with another number of keys or another type. `type` is that of the second row. */
  | {
      readonly what: 'person twice';
      readonly userId: string;
      readonly earlier: number;
      readonly type: DeviceType | null;
    };

/** Why a file is not a roster. */
export type FileFault =
  /** A line is not valid. */
  | { readonly line: number; readonly fault: RosterFault }
  /** The line has bytes that are not valid in the encoding, a name in lower case. */
  | { readonly line: number; readonly fault: { readonly what: 'encoding'; readonly encoding: string } }
  | { readonly line: null; readonly fault: { readonly what: 'too large' | 'unreadable' } | InputFault };

/** Largest values of a roster: characters of a name, keys of a person, lines without the header. */
export const rosterBounds = { name: 200, keys: 100, lines: 100_000 } as const;

/** A row whose person gets no key because of it. */
interface LeftOutRow {
  readonly line: number;
  readonly userId: string;
}

/** The people of a file, and who is left out. */
export interface Roster {
  readonly people: readonly Person[];
  /** Marked as gone by the file. `mark`: such as `Status: Suspended`. */
  readonly gone: readonly (LeftOutRow & { readonly mark: string })[];
  /** Rows that repeat the one in the line `earlier`. */
  readonly repeated: readonly (LeftOutRow & { readonly earlier: number })[];
}

/** Reads the rows of a file. Returns the first one that is not valid. Throws `InvalidInput`. */
export async function readRoster({ rows }: Pick<PersonFile, 'rows'>): Promise<Roster | FileFault> {
  const reader = new RosterReader();
  for await (const row of rows) {
    const fault = reader.add(row);
    if (fault !== null) return { line: row.position.line, fault };
  }
  return reader;
}

class RosterReader implements Roster {
  readonly people: Person[] = [];
  readonly gone: (LeftOutRow & { mark: string })[] = [];
  readonly repeated: (LeftOutRow & { earlier: number })[] = [];
  /** By user: the rows that name the user, by type. */
  readonly #rows = new Map<string, Map<DeviceType | null, { readonly line: number; readonly wanted: number }>>();

  /** Returns why the row is not valid; null if it is. */
  add(row: PersonRow): RosterFault | null {
    const { problem, userId: text, name, type: typeText, count, gone, printedNumber } = row;
    const { line } = row.position;
    if (this.people.length >= rosterBounds.lines) return { what: 'lines' };
    if (problem !== null) return { what: 'unread', problem };
    const userId = readUserId(text);
    if (userId === null) return { what: 'userId', text };
    if (name !== null && name.length > rosterBounds.name) return { what: 'name' };
    const type = typeOf(typeText);
    if (type === undefined) return { what: 'type' };
    const wanted = countOf(count);
    if (wanted === null) return { what: 'count' };
    const isNumbered = printedNumber !== '';
    if (isNumbered && (wanted > 1 || faultOf('serialNumber', printedNumber) !== null)) return { what: 'printedNumber' };
    if (gone !== null) {
      this.gone.push({ line, userId, mark: gone });
      return null;
    }
    const earlier = this.#earlier(line, userId, type, wanted);
    if (earlier === null) this.people.push({ userId, name, type, wanted, ...(isNumbered && { printedNumber }) });
    else if (earlier.isSame) this.repeated.push({ line, userId, earlier: earlier.line });
    else return { what: 'person twice', userId, earlier: earlier.line, type };
    return null;
  }

  /** A person has a row for each type, or one row for all. Returns the line that has the person already; null if none has. */
  #earlier(line: number, userId: string, type: DeviceType | null, wanted: number) {
    const key = personKey(userId);
    const rows = this.#rows.get(key) ?? new Map<DeviceType | null, { line: number; wanted: number }>();
    const same = rows.get(type);
    const earlier = same ?? rows.get(null) ?? (type === null ? [...rows.values()][0] : undefined);
    if (earlier === undefined) this.#rows.set(key, rows.set(type, { line, wanted }));
    return earlier === undefined ? null : { line: earlier.line, isSame: same?.wanted === wanted };
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
