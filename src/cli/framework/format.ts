/** In which form a command writes its result: `--json`, `--csv`, `--output`, `--jq` and `--fields` in one value. */
import { usage } from '../fault.ts';
import { type Format, listFormats, resultFormats } from '../terminal/output.ts';
import { type FlagShapes, globalFlags } from './flags.ts';

const csv = { help: 'write CSV with a header row', conflicts: ['json'] } as const;

/** Flags of commands whose rows can also be CSV. */
export const csvFlags = {
  output: { ...globalFlags.output, choices: [...resultFormats, 'csv'] },
  csv,
} as const satisfies FlagShapes;

/** Flags of commands that write a list; `fields` are the names of a row's fields. */
export const listFlags = <const Field extends string>(fields: readonly Field[]) =>
  ({
    output: { ...globalFlags.output, choices: listFormats },
    csv,
    fields: { ...globalFlags.fields, choices: fields },
  }) as const satisfies FlagShapes;

/** Values of the flags that name a format. */
export interface FormatFlags {
  readonly json?: boolean;
  readonly csv?: boolean;
  readonly output?: Format | undefined;
  readonly jq?: string | undefined;
  readonly fields?: readonly string[];
}

/**
 * The format that the flags name. `--json` and `--csv` mean `--output json` and `--output csv`; a contradiction is a fault. A single
 * result has no columns: its `fields` are YAML unless another format is named.
 */
export function formatOf({ json, csv, output, jq, fields = [] }: FormatFlags, isList: boolean): Format {
  const named: (readonly [flag: string, format: Format])[] = [];
  if (json) named.push(['--json', 'json']);
  if (csv) named.push(['--csv', 'csv']);
  if (output !== undefined) named.push([`--output ${output}`, output]);
  if (jq !== undefined) named.push(['--jq', output === 'ndjson' ? 'ndjson' : 'json']);
  const [first, ...others] = named;
  const other = others.find(([, format]) => format !== first![1]);
  if (other) throw usage(`${first![0]} and ${other[0]} cannot be combined`, 'omit one of them');
  return first?.[1] ?? (fields.length > 0 && !isList ? 'yaml' : 'table');
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
