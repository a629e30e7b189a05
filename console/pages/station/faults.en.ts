/** Why a file is not a roster, in English. */
import { rosterBounds } from '../../../src/enrollment/line/roster.ts';
import { grouped } from '../../text/numbers.ts';
import type { FileFault } from './roster-file.ts';

/** What is wrong with the file, or with the line that it names. */
function english({ fault }: FileFault): string {
  switch (fault.what) {
    case 'unknown columns':
      return `unknown columns: ${fault.names.map(name => name.trim() || '(empty)').join(', ')}`;
    case 'column twice':
      return `two columns for ${fault.column}`;
    case 'column missing':
      return 'the column userId is missing';
    case 'cells':
      return `it has ${fault.found} cells, the header row ${fault.expected}: does a cell contain a comma and no quotes?`;
    case 'userId':
      return fault.text === '' ? 'userId is empty' : `${fault.text} is not a valid userId`;
    case 'name':
      return `name has more than ${rosterBounds.name} characters`;
    case 'type':
      return 'type must be UKEY or SIMKEY';
    case 'count':
      return `count must be a whole number from 1 to ${rosterBounds.keys}`;
    case 'person twice':
      return `${fault.userId} is already in line ${fault.earlier}`;
    case 'lines':
      return `a roster has at most ${grouped(rosterBounds.lines)} lines`;
    case 'open quote':
      return 'a quote is opened and never closed';
    case 'text after quote':
      return 'text follows a closing quote';
    case 'encoding':
      return `it is not valid ${fault.encoding.toUpperCase()}. Save the file as UTF-8 (in Excel: CSV UTF-8), or choose its encoding.`;
    case 'empty':
      return 'The file has no people.';
    case 'too large':
      return 'The file is too large for a roster.';
    case 'unreadable':
      return 'The file cannot be read.';
  }
}

/** Every text in English. Other languages have the same entries: the type checker compares them. */
export const en = {
  of: english,
  line: (line: number, problem: string) => `Line ${grouped(line)}: ${problem}`,
  encoding: 'Encoding of the file',
  readAgain: 'Read the file again',
};

/** What a refused file has as words, in each language. */
export type FaultWords = typeof en;
