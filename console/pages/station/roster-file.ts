/** The roster of the station: a file that is checked as a whole before the first key. It is read in the browser and sent nowhere. */
import { type FileFault, type Roster, readRoster } from '../../../src/enrollment/line/roster.ts';
import { InvalidInput } from '../../../src/tables/fault.ts';
import { openPersons } from '../../../src/tables/persons.ts';

/** The people of a file, or why it is refused. */
type Outcome =
  /** `unused`: columns of the header row that a roster does not use. */
  (Roster & { readonly unused: readonly string[] }) | { readonly fault: FileFault };

/** The encodings that spreadsheets write where CSV is not UTF-8. */
export const encodings = [
  'windows-1252',
  'windows-1250',
  'windows-1251',
  'windows-1253',
  'windows-1254',
  'shift_jis',
  'gb18030',
  'big5',
  'euc-kr',
] as const;
/** One of `encodings`. */
export type Encoding = (typeof encodings)[number];

/** Bytes: 100,000 lines have less. */
const mostBytes = 2 ** 26;

/** Reads a file that the person has chosen. `encoding`: the one that the person has named, from `encodings`; null for none. */
export async function readRosterFile(file: File, encoding: Encoding | null): Promise<Outcome> {
  if (file.size > mostBytes) return { fault: { line: null, fault: { what: 'too large' } } };
  try {
    return await readRosterBytes(new Uint8Array(await file.arrayBuffer()), encoding, file.name);
  } catch {
    return { fault: { line: null, fault: { what: 'unreadable' } } };
  }
}

/** Reads a roster. Of a file in another encoding, nothing is taken. */
export async function readRosterBytes(bytes: Uint8Array, encoding: Encoding | null, file: string): Promise<Outcome> {
  try {
    const reading = { file, encoding, map: [], where: [], columns: null };
    const opened = await openPersons(one(bytes), reading);
    const roster = await readRoster(opened);
    const { invalidLine: line, shape, columns } = opened.table;
    if (line !== null) return { fault: { line, fault: { what: 'encoding', encoding: shape.encoding ?? 'utf-8' } } };
    if ('fault' in roster) return { fault: roster };
    if (roster.people.length === 0) return { fault: { line: null, fault: { what: 'empty' } } };
    const unused = columns.filter(({ field, name }) => field === null && name !== '').map(({ name }) => name);
    return { ...roster, unused };
  } catch (error) {
    if (error instanceof InvalidInput) return { fault: { line: null, fault: error.fault } };
    throw error;
  }
}

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
