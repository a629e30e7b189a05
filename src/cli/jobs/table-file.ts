/** A file of rows for a command: opened, with its faults in words and what a person can type next. */
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { tagNameWords } from '../../contract/tags.ts';
import { type ForeignKind, type InputFault, InvalidInput } from '../../tables/fault.ts';
import { fewOf } from '../../tables/text.ts';
import { type Fault, usage } from '../fault.ts';
import { nameOf, notInEncoding, unreadable } from './input-file.ts';

/** Words of a command for the faults of its file. */
export interface TableWords {
  /** The fault of a file without rows, such as `has no devices`. */
  readonly none: string;
  /** The required form of a file, such as `it needs one device on each line after the header row`. */
  readonly needs: string;
  /** Whose files a preset reads. */
  readonly makerOf?: (preset: string) => string;
  /** The flags that give a field to all rows. */
  readonly flagOf: Readonly<Partial<Record<string, string>>>;
}

/** A file or standard input. */
export interface FileSource {
  /** `-` is standard input. */
  readonly file: string;
  readonly stdin: Readable;
}

/** The bytes of a file, which is opened when its first part is wanted. A fault of the system is a usage fault. */
export async function* bytesOf({ file, stdin }: FileSource): AsyncGenerator<Uint8Array> {
  const stream = file === '-' ? stdin : createReadStream(file, { highWaterMark: 256 * 1024 });
  try {
    for await (const chunk of stream) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** The value of `read`; a fault of the file as a whole is a usage fault. */
export async function readable<T>(file: string, words: TableWords, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw error instanceof InvalidInput ? tableFault(nameOf(file), error.fault, words) : unreadable(file, error);
  }
}

/** The rows; a fault of the file as a whole is a usage fault. */
export async function* readableRows<T>(file: string, words: TableWords, rows: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* rows;
  } catch (error) {
    throw error instanceof InvalidInput ? tableFault(nameOf(file), error.fault, words) : unreadable(file, error);
  }
}

/** The fault for bytes that are not valid in the encoding of the file; null if there are none. */
export const encodingFault = (
  file: string,
  { invalidLine, shape }: { readonly invalidLine: number | null; readonly shape: { readonly encoding: string | null } },
): Fault | null => (invalidLine === null ? null : notInEncoding(nameOf(file), invalidLine, shape.encoding ?? 'utf-8'));

/** The program that wrote a file, and what to do there. */
const foreignWords: Readonly<Record<ForeignKind, readonly [is: string, hint: string]>> = {
  html: [
    'an HTML page that is named like a spreadsheet',
    'export it as CSV, in ServiceNow: Export > CSV; or open it in Excel and save it as .xlsx',
  ],
  xls: ['a workbook of Excel 97 to 2003', 'in Excel: File > Save As > Excel Workbook (.xlsx), or CSV UTF-8'],
  'xml workbook': ['an XML spreadsheet of 2003', 'in Excel: File > Save As > Excel Workbook (.xlsx), or CSV UTF-8'],
  'locked workbook': [
    'a workbook with a password',
    'in Excel: File > Info > Protect Workbook > Encrypt with Password, remove it and save',
  ],
  opendocument: ['an OpenDocument spreadsheet', 'in LibreOffice: File > Save As > Text CSV, or Excel 2007-365 (.xlsx)'],
  numbers: ['a spreadsheet of Numbers', 'in Numbers: File > Export To > CSV'],
  zip: ['a ZIP archive', 'unpack it and give the file in it'],
  gzip: ['compressed with gzip', 'unpack it: gunzip FILE'],
  pdf: ['a PDF document', 'ask for the list as CSV or .xlsx'],
  binary: ['not a text file', 'give CSV, .xlsx, JSON or LDIF'],
};

/** The usage fault for an input. `name`: of the file. */
export function tableFault(name: string, fault: InputFault, words: TableWords): Fault {
  switch (fault.what) {
    case 'empty':
      return usage(`${name} is empty`, words.needs);
    case 'no rows':
      return usage(`${name} ${words.none}${fault.names.length > 0 ? ': it has only a header row' : ''}`, words.needs);
    case 'all left out':
      return usage(
        `--where leaves out all ${fault.count} rows of ${name}`,
        'compare the value with the file; upper and lower case are the same',
      );
    case 'header':
      return usage(`${name}, line ${fault.line}: ${fault.problem}`, 'the first line must be a header row');
    case 'columns absent':
      return usage(`${name} has no column ${fault.columns.join(', ')}`, headerHint(fault.names));
    case 'fields missing':
      return missingFault(name, fault, words);
    case 'column twice':
      return usage(
        `${name} has two columns for ${fault.column}${fault.columns.length > 0 ? `: ${fault.columns.join(', ')}` : ''}`,
        fault.columns.length > 0
          ? `name the one to read: --map "${fault.column}=${fault.columns[0]}"`
          : 'remove one of them',
      );
    case 'tag name':
      return usage(`${name} has a column "${fault.column}", which is not a name of a tag`, `a name is ${tagNameWords}`);
    case 'array':
      return usage(
        `${name}, line ${fault.line}: ${fault.problem}`,
        'for JSON lines, name the file .jsonl or give --format jsonl',
      );
    case 'too long':
      return usage(`${name} cannot be read: ${fault.problem}`);
    case 'foreign':
      return usage(
        `${name} is ${foreignWords[fault.kind][0]}, which devmgr does not read`,
        foreignWords[fault.kind][1],
      );
    case 'xml':
      return usage(`${name} is XML`, 'only PSKC files (RFC 6030) can be read: --map pskc');
    case 'pskc':
      return usage(`${name}, line ${fault.line}: ${fault.problem}`);
    case 'workbook':
      return usage(`${name} cannot be read as a workbook: ${fault.problem}`);
    case 'no packages':
      return usage(`${name} has no KeyPackage`);
  }
}

type MissingFault = Extract<InputFault, { readonly what: 'fields missing' }>;

function missingFault(name: string, { fields, names, looksLike, rejected }: MissingFault, words: TableWords): Fault {
  const isGroup = fields.some(field => field.includes(' or '));
  const problem = `${name} has no column ${isGroup ? '' : 'for '}${fields.join(', ')}`;
  if (looksLike !== null) return usage(problem, `it looks like ${words.makerOf?.(looksLike)}: add --map ${looksLike}`);
  const [column] = rejected;
  if (column !== undefined) {
    const why = column.why === 'opaque' ? 'has ids that a system generated, not logins' : 'has other values';
    return usage(
      `${problem}: column "${column.column}" ${why}`,
      `name the column: --map ${fields[0]}=COLUMN${columnsIn(names)}`,
    );
  }
  const flags = fields.map(field => words.flagOf[field]);
  if (!flags.includes(undefined)) return usage(problem, `for all lines: ${flags.map(flag => `${flag} …`).join(' ')}`);
  return usage(
    problem,
    `${headerHint(names)}. To name a column: --map ${fields.find(field => words.flagOf[field] === undefined)!.split(' or ')[0]}=COLUMN`,
  );
}

const columnsIn = (names: readonly string[]): string =>
  names.length > 0 ? `; columns are ${fewOf(names).slice(0, 200)}` : '';

/** The first line is quoted only if it can be a header row: a line of data may hold secrets, and has no names here. */
function headerHint(names: readonly string[]): string {
  const needed = 'the first line must be a header row with the names of the columns';
  return names.length === 0 ? needed : `${needed}; it is: ${names.join(', ').slice(0, 200)}`;
}
