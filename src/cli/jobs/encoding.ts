/** The encoding of an input file, and its flag. */
import { encodingNamed } from '../../contract/text-file.ts';
import { usage } from '../fault.ts';

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
