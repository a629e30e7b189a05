/** The roster of the bench: a file that is checked as a whole before the first key. It is read in the browser and sent nowhere. */
import type { Person } from '../../../src/contract/line/people.ts';
import { type RosterFault, RosterReader } from '../../../src/contract/line/roster.ts';
import { type CsvProblem, decoded, readCsv } from './csv.ts';

/** Why a file is not a roster. */
export type FileFault =
  /** A line is not valid. */
  | { readonly line: number; readonly fault: RosterFault | { readonly what: CsvProblem } }
  | { readonly line: null; readonly fault: { readonly what: 'empty' | 'too large' | 'unreadable' } };

/** The people of a file, or why it is refused. */
export type RosterOutcome = { readonly people: readonly Person[] } | { readonly fault: FileFault };

/** Bytes: 100,000 lines have less. */
const mostBytes = 2 ** 26;

/** Reads a file that the person has chosen. */
export async function readRosterFile(file: Blob): Promise<RosterOutcome> {
  if (file.size > mostBytes) return { fault: { line: null, fault: { what: 'too large' } } };
  try {
    return readRoster(decoded(new Uint8Array(await file.arrayBuffer())));
  } catch {
    return { fault: { line: null, fault: { what: 'unreadable' } } };
  }
}

/** Reads the text of a roster. */
export function readRoster(text: string): RosterOutcome {
  const roster = new RosterReader();
  for (const record of readCsv(text)) {
    const { line } = record;
    if ('problem' in record) return { fault: { line, fault: { what: record.problem } } };
    const fault = roster.add(line, record.cells);
    if (fault !== null) return { fault: { line, fault } };
  }
  return roster.people.length ? { people: roster.people } : { fault: { line: null, fault: { what: 'empty' } } };
}
