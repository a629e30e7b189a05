/** The input of `register --file`: a file or standard input, and the messages for one that cannot be read. */
import { plainName } from '../../../../contract/csv.ts';
import { tagNameWords } from '../../../../contract/tags.ts';
import { countedTags } from '../../../../contract/values.ts';
import { DroppedSecrets, fewOf, type RegistrationField } from '../../../../enrollment/import/columns.ts';
import type { ReadColumn } from '../../../../enrollment/import/csv-rows.ts';
import { type InputFault, InvalidInput } from '../../../../enrollment/import/fault.ts';
import type { Mapping, Preset } from '../../../../enrollment/import/mapping.ts';
import type { Defaults, Row } from '../../../../enrollment/import/row.ts';
import { type FileFormat, rowsOf } from '../../../../enrollment/import/rows.ts';
import { isDataLine, isSecretName } from '../../../../enrollment/import/secret-names.ts';
import { type Fault, usage } from '../../../fault.ts';
import { type InputSource, inputText, nameOf, noticeOf, unreadable } from '../../../jobs/input-file.ts';

/** An input file that is being read. */
export interface Input {
  /** Bytes of the consumed rows, about 1 KiB more or less. Bytes that were read ahead do not count. */
  readonly consumed: () => number;
  readonly rows: AsyncGenerator<Row>;
  /** Secrets in the consumed rows. */
  readonly dropped: DroppedSecrets;
}

/** Which file to read, and how. */
interface InputOptions extends InputSource {
  /** Null detects it from the name, or from the first character. */
  readonly format: FileFormat | null;
  readonly mapping: Mapping;
  /** Values for rows that have none; those of the mapping come after them. */
  readonly defaults: Defaults;
  /** Rules of its rows: `RowRules`. */
  readonly asIs?: boolean;
  /** Called with what is read from which column. */
  readonly explain: (text: string) => void;
  /** Called with the names of ignored columns. */
  readonly notice: (text: string) => void;
}

/** Opens the input. Its rows throw a usage fault if the input as a whole is not readable or not valid. */
export function openInput(options: InputOptions): Input {
  const { mapping, explain, notice } = options;
  let bytes = 0;
  // Each row with bytes that are not valid is refused; the others are sent.
  const onInvalid = (fault: Fault) => notice(noticeOf(fault));
  const text = inputText(options, onInvalid, count => {
    bytes += count;
  });
  const dropped = new DroppedSecrets();
  const defaults = { ...mapping.defaults, ...options.defaults };
  const onColumns = (columns: readonly ReadColumn[]) => {
    explain(columnWords(columns, defaults));
    const ignored = columns.filter(
      ({ name, field, tag }) => field === null && tag === null && !isSecretName(name) && name !== '',
    );
    const tags = countedTags.filter(tag => ignored.some(({ name }) => plainName(name) === tag));
    const hint = tags.map(tag => `; to store ${tag} as a tag, name its column tag:${tag}`).join('');
    if (ignored.length) notice(`ignored columns: ${fewOf(ignored.map(({ name }) => name))}${hint}`);
  };
  if (mapping.preset === 'pskc') explain('Elements: SerialNo=serialNumber, Manufacturer=manufacturer, Model=model.');
  const rows = rowsOf(text, options, { mapping, defaults, dropped, onColumns, asIs: options.asIs ?? false });
  return { consumed: () => bytes, rows: readable(rows, options), dropped };
}

/** The rows; what is wrong with the input as a whole is a usage fault. */
async function* readable(rows: AsyncIterable<Row>, { file, mapping }: InputOptions): AsyncGenerator<Row> {
  try {
    yield* rows;
  } catch (error) {
    throw error instanceof InvalidInput ? faultOf(nameOf(file), error.fault, mapping) : unreadable(file, error);
  }
}

/** How the columns are read: `serial number=serialNumber, manufacturer=manufacturer; deviceType is UKEY`. */
function columnWords(columns: readonly ReadColumn[], defaults: Defaults): string {
  const read = columns.flatMap(({ name, field, tag }) =>
    field === null && tag === null ? [] : [`${name}=${field ?? `tag ${tag}`}`],
  );
  const { tags = {}, ...others } = defaults;
  const values = [
    ...Object.entries(others).map(([field, value]) => `${field} is ${value}`),
    ...Object.entries(tags).map(([tag, value]) => `tag ${tag} is ${value}`),
  ];
  return `Columns: ${fewOf(read)}${values.length > 0 ? `; where empty, ${values.join(', ')}` : ''}.`;
}

const rowsHint = 'it needs one device on each line after the header row, or one in each element of an array';

/** The usage fault for an input. `name`: of the file. */
function faultOf(name: string, fault: InputFault, mapping: Mapping): Fault {
  switch (fault.what) {
    case 'empty':
      return usage(`${name} is empty`, 'it needs a header row, and one device on each line after it');
    case 'no rows':
      return usage(`${name} has no devices${fault.names.length > 0 ? ': it has only a header row' : ''}`, rowsHint);
    case 'header':
      return usage(`${name}, line ${fault.line}: ${fault.problem}`, 'the first line must be a header row');
    case 'columns absent':
      return usage(`${name} has no column ${fault.columns.join(', ')}`, headerHint(fault.names));
    case 'fields missing':
      return usage(`${name} has no column for ${fault.fields.join(', ')}`, missingHint(fault, mapping));
    case 'column twice':
      return usage(`${name} has two columns for ${fault.column}`, 'remove one of them');
    case 'tag name':
      return usage(`${name} has a column "${fault.column}", which is not a name of a tag`, `a name is ${tagNameWords}`);
    case 'array':
      return usage(
        `${name}, line ${fault.line}: ${fault.problem}`,
        'for JSON lines, name the file .jsonl or give --format jsonl',
      );
    case 'too long':
      return usage(`${name} cannot be read: ${fault.problem}`);
    case 'xml':
      return usage(
        `${name} is XML`,
        fault.isPskc
          ? 'it looks like a PSKC file: add --map pskc'
          : 'only PSKC files (RFC 6030) can be read: --map pskc',
      );
    case 'pskc':
      return usage(`${name}, line ${fault.line}: ${fault.problem}`);
    case 'no packages':
      return usage(`${name} has no KeyPackage`);
  }
}

const flagOf: Readonly<Partial<Record<RegistrationField, string>>> = {
  deviceType: '--type',
  manufacturer: '--manufacturer',
  model: '--model',
};

const makers: Readonly<Record<Preset, string>> = {
  yubico: 'Yubico',
  'entra-oath': 'Microsoft Entra',
  'snipe-it': 'Snipe-IT',
  pskc: 'key packages',
};

function missingHint(
  { fields, names, looksLike }: Extract<InputFault, { readonly what: 'fields missing' }>,
  { preset }: Mapping,
): string {
  const flags = fields.map(field => flagOf[field]);
  if (preset === null && looksLike !== null)
    return `it looks like a file of ${makers[looksLike]}: add --map ${looksLike}`;
  return preset !== null && !flags.includes(undefined)
    ? `for all lines: ${flags.map(flag => `${flag} …`).join(' ')}`
    : headerHint(names);
}

/** The first line is quoted only if it can be a header row: a line of data may hold secrets. */
function headerHint(names: readonly string[]): string {
  const needed = 'the first line must be a header row with the names of the columns';
  return isDataLine(names) ? needed : `${needed}; it is: ${names.join(', ').slice(0, 200)}`;
}
