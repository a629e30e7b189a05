/** In which form a command writes its result: `--json`, `--csv`, `--output` and `--jq` in one value. */
import { usage } from '../fault.ts';
import { type Format, formats } from '../terminal/format.ts';
import type { FlagShapes } from './flags.ts';

/** Flags of commands whose result is one thing. */
export const resultFlags = outputFlags(['table', 'json', 'yaml']);

/** Flags of commands that write a list; `fields` are the names of a row's fields. */
export const listFlags = <const Field extends string>(fields: readonly Field[]) =>
  ({
    ...outputFlags(formats),
    csv: { help: 'write CSV with a header row', conflicts: ['json'] },
    fields: { value: 'NAMES', many: true, choices: fields, help: 'only these fields, in this order' },
  }) as const satisfies FlagShapes;

/** `--output` with these formats, and `--jq`. */
export function outputFlags<const F extends Format>(choices: readonly F[]) {
  return {
    output: { value: 'FORMAT', short: 'o', choices, help: 'format of the result' },
    jq: { value: 'EXPR', help: 'write what this jq expression selects of the JSON' },
  } as const satisfies FlagShapes;
}

/** Values of the flags that name a format; all are absent for a command without them. */
export interface FormatFlags {
  readonly json?: boolean;
  readonly csv?: boolean;
  readonly output?: Format | undefined;
  readonly jq?: string | undefined;
}

/** The format that the flags name. `--json` and `--csv` mean `--output json` and `--output csv`; a contradiction is a fault. */
export function formatOf({ json, csv, output, jq }: FormatFlags): Format {
  const named: (readonly [flag: string, format: Format])[] = [];
  if (json) named.push(['--json', 'json']);
  if (csv) named.push(['--csv', 'csv']);
  if (output !== undefined) named.push([`--output ${output}`, output]);
  if (jq !== undefined) named.push(['--jq', output === 'ndjson' ? 'ndjson' : 'json']);
  const [first, ...others] = named;
  const other = others.find(([, format]) => format !== first![1]);
  if (other) throw usage(`${first![0]} and ${other[0]} contradict each other`, 'give one of them');
  return first?.[1] ?? 'table';
}

/** Whether the words of a command line ask for JSON. They may be wrong in any other way. */
export function asksForJson(words: readonly string[]): boolean {
  return words.some(
    (word, at) =>
      word === '--json' ||
      /^(?:--output=|-o=?)(?:nd)?json$/i.test(word) ||
      ((word === '--output' || word === '-o') && /^(?:nd)?json$/i.test(words[at + 1] ?? '')),
  );
}
