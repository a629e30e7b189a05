/** The encoding of an input file: its flag, and what is said about a file that is not in it. */
import { encodingNamed } from '../../../../contract/text-file.ts';
import { type Fault, usage } from '../../../fault.ts';

/** What `--encoding` does. */
export const encodingFlag = {
  value: 'NAME',
  help: 'encoding of the file, such as windows-1252 (default: UTF-8, or UTF-16 with a mark)',
} as const;

/** The name of the encoding; null without a label. Throws a usage fault if the label is unknown. */
export function encodingOf(label: string | undefined): string | null {
  const name = label === undefined ? null : encodingNamed(label);
  if (label === undefined || name !== null) return name;
  throw usage(`--encoding "${label}" is not a known encoding`, 'for example --encoding windows-1252');
}

/** Why a file is not in its encoding. */
export function notInEncoding(name: string, line: number, encoding: string): Fault {
  const hint =
    encoding === 'utf-8'
      ? 'save it as UTF-8 (in Excel "CSV UTF-8"), or name its encoding: --encoding windows-1252'
      : 'name the encoding in which the file was saved: --encoding NAME';
  return usage(`${name}, line ${line}: it is not valid ${encoding.toUpperCase()}`, hint);
}

/** A fault in one sentence, for a notice. */
export const wordsOf = ({ message, hint }: Fault): string => (hint === null ? message : `${message}: ${hint}`);
