/** The input of `register --file`: a file or standard input. */
import { DroppedSecrets, fewOf, isSecretName } from '../../../../enrollment/import/columns.ts';
import type { ReadColumn } from '../../../../enrollment/import/csv-rows.ts';
import { InvalidInput } from '../../../../enrollment/import/fault.ts';
import type { Mapping } from '../../../../enrollment/import/mapping.ts';
import type { Defaults, Row } from '../../../../enrollment/import/row.ts';
import { type FileFormat, rowsOf } from '../../../../enrollment/import/rows.ts';
import type { Fault } from '../../../fault.ts';
import { nameOf, noticeOf, unreadable } from '../../../jobs/input-file.ts';
import { type InputSource, inputText } from '../../../jobs/input-text.ts';
import { faultOf } from './input-fault.ts';

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
    if (ignored.length) notice(`ignored columns: ${fewOf(ignored.map(({ name }) => name))}`);
  };
  if (mapping.preset === 'pskc') explain('Elements: SerialNo=serialNumber, Manufacturer=manufacturer, Model=model.');
  const rows = rowsOf(text, options, { mapping, defaults, dropped, onColumns });
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
