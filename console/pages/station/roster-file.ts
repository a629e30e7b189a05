/** The roster of the station: a file that is checked as a whole before the first key. It is read in the browser and sent nowhere. */

import { TextFileDecoder } from '../../../src/contract/text-file.ts';
import type { Person } from '../../../src/enrollment/line/people.ts';
import { type FileFault, RosterReader } from '../../../src/enrollment/line/roster.ts';
import { CsvReader } from '../../../src/tables/csv-reader.ts';
import { separationOf } from '../../../src/tables/header.ts';

/** The people of a file, or why it is refused. */
type Outcome =
  /** `unused`: columns of the header row that a roster does not use. */
  { readonly people: readonly Person[]; readonly unused: readonly string[] } | { readonly fault: FileFault };

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
export async function readRosterFile(file: Blob, encoding: Encoding | null): Promise<Outcome> {
  if (file.size > mostBytes) return { fault: { line: null, fault: { what: 'too large' } } };
  try {
    return readRosterBytes(new Uint8Array(await file.arrayBuffer()), encoding);
  } catch {
    return { fault: { line: null, fault: { what: 'unreadable' } } };
  }
}

/** Decodes and reads a roster. Of a file in another encoding, nothing is taken. */
export function readRosterBytes(bytes: Uint8Array, encoding: Encoding | null): Outcome {
  const decoder = new TextFileDecoder(encoding);
  const text = decoder.decode(bytes) + decoder.end();
  const line = decoder.invalidLine;
  return line === null
    ? readRoster(text)
    : { fault: { line, fault: { what: 'encoding', encoding: decoder.encoding } } };
}

/** Reads the text of a roster. */
export function readRoster(text: string): Outcome {
  const roster = new RosterReader();
  const head = text.trimStart().split('\n', 1)[0]!;
  const { mark } = separationOf(
    head,
    () => false,
    () => false,
  );
  for (const record of new CsvReader(mark).read(`${text}\n`, true)) {
    const { line } = record;
    if ('problem' in record) return { fault: { line, fault: { what: record.problem } } };
    const fault = roster.add(line, record.cells);
    if (fault !== null) return { fault: { line, fault } };
  }
  const { people, unused } = roster;
  return people.length ? { people, unused } : { fault: { line: null, fault: { what: 'empty' } } };
}
