/** The devices that a command changes: named on the command line, or read from a file. `selection.ts` has those of filters. */
import { Code } from '../../../../contract/codes.ts';
import { cellText } from '../../../../contract/csv.ts';
import { formsOf } from '../../../../contract/iccid.ts';
import { writtenActivationCode } from '../../../../contract/ids.ts';
import type { BatchOperation } from '../../../../contract/values.ts';
import { readCsv } from '../../../../enrollment/import/csv.ts';
import { isDataLine, SecretColumns } from '../../../../enrollment/import/secret-names.ts';
import { judgedSerial } from '../../../../enrollment/import/serial-values.ts';
import { Fault, usage } from '../../../fault.ts';
import { type Context, notify } from '../../../framework/context.ts';
import { deviceSearch, NamedDevices, registeredForms } from '../../../framework/devices/find-device.ts';
import { type InputSource, inputText, nameOf, noticeOf, unreadable } from '../../../jobs/input-file.ts';
import { isHeader, isWhole } from '../../../jobs/result-rows.ts';

/** Names a device: by one of the two, or by both if they name the same device. */
export interface Target {
  /** Line of the file, counted from 1; absent if the device is not from a file. */
  readonly line?: number;
  readonly deviceId?: string;
  readonly serialNumber?: string;
}

/** A device to change, with the fields that are its own. */
export interface Item {
  readonly target: Target;
  readonly fields: Readonly<Record<string, string>>;
  /** Why it is not sent; null if it is. */
  readonly problem: { readonly code: number; readonly message: string } | null;
  /** The line is a result of `enroll` that names no device: the key failed, waits in a spool file, or was in a dry run. */
  readonly unregistered?: boolean;
  /** It is a line of a plain list: what is read as a deviceId may be a serial number. */
  readonly isListed?: boolean;
}

/** The devices that the command line names. Throws a usage fault if a name is that of two devices. */
export async function itemsNamed(context: Context, names: readonly string[]): Promise<Item[]> {
  const devices = new NamedDevices(context);
  const items: Item[] = [];
  for (const name of names) {
    const target = await devices.find(name.trim());
    if (target instanceof Fault) throw target;
    items.push({ target, fields: {}, problem: null });
  }
  return items;
}

/** Throws a usage fault if a name is empty, or if a flag names devices as well; null for none. */
export function checkNames(names: readonly string[], flag: '--file' | '--filter' | null): void {
  if (names.length > 0 && flag !== null) throw usage(`both "${names[0]}" and ${flag} name devices`, 'omit one of them');
  if (names.some(name => name.trim() === '')) throw usage('the name of a device is empty');
}

/** A device of the registry, or why there is none. */
interface Match {
  readonly item: Item;
  readonly device: Awaited<ReturnType<Awaited<ReturnType<typeof deviceSearch>>>>;
  /** Null if there is a device. */
  readonly problem: Item['problem'];
}

/** The devices of the registry, in the order of the items. */
export async function foundItems(context: Context, items: readonly Item[]): Promise<readonly Match[]> {
  const find = await deviceSearch(
    context,
    items.map(({ target }) => target),
  );
  const found: Match[] = [];
  for (const item of items) {
    const device = item.problem === null ? await find(item.target) : null;
    found.push({ item, device, problem: device === null ? (item.problem ?? absent) : null });
  }
  return found;
}

/** The devices in a file, for a command that needs only the names. `encoding`: see `encodingOf`. */
export async function namedInFile(context: Context, file: string, encoding: string | null): Promise<Item[]> {
  const items: Item[] = [];
  const { stdin } = context.io;
  const source = { file, stdin, encoding, notice: (text: string) => notify(context, text), userId: undefined };
  for await (const item of itemsOfFile(context, { ...source, operation: null })) items.push(item);
  return items;
}

/** Which file to read, and for which operation. */
interface FileSource extends InputSource {
  /** Called with a remark on the file. */
  readonly notice: (text: string) => void;
  /** Null for a command that needs only the names. */
  readonly operation: BatchOperation | null;
  /** The user for lines that name none. */
  readonly userId: string | undefined;
}

type Field = 'deviceId' | 'serialNumber' | 'activationCode' | 'userId' | 'result' | 'name';

type Columns = readonly (Field | null)[];

/** Results of `enroll` for keys that it did not register. */
const unregistered: ReadonlySet<string | undefined> = new Set(['failed', 'spooled', 'new']);

/** Names of columns, in lower case and without punctuation. */
const columnNames: Readonly<Record<string, Field>> = {
  deviceid: 'deviceId',
  device: 'deviceId',
  serialnumber: 'serialNumber',
  serial: 'serialNumber',
  sn: 'serialNumber',
  activationcode: 'activationCode',
  userid: 'userId',
  user: 'userId',
};

/** Columns of the results of `enroll` that labels need as well. */
const labelColumns = { result: 'result', name: 'name' } as const satisfies Readonly<Record<string, Field>>;

/** The devices in a file, in constant memory. Throws a usage fault if the file as a whole is not readable or not valid. */
export async function* itemsOfFile(context: Context, source: FileSource): AsyncGenerator<Item> {
  const devices = new NamedDevices(context);
  let formOf: Awaited<ReturnType<typeof registeredForms>> | null = null;
  for await (const item of linesOfFile(source)) {
    const named = item.isListed ? await listedItem(item, devices) : item;
    const { serialNumber } = named.target;
    if (serialNumber === undefined || named.problem !== null || formsOf(serialNumber).length === 1) {
      yield named;
      continue;
    }
    formOf ??= await registeredForms(context);
    yield { ...named, target: { ...named.target, serialNumber: formOf(serialNumber) } };
  }
}

async function* linesOfFile(source: FileSource): AsyncGenerator<Item> {
  const { file } = source;
  // Each line with bytes that are not valid is refused; the others are sent.
  const text = inputText(source, fault => source.notice(noticeOf(fault)));
  try {
    let columns: Columns | null = null;
    let results: readonly string[] | null = null;
    let secrets: SecretColumns | null = null;
    let hasLines = false;
    for await (const record of readCsv(text)) {
      const { line } = record;
      if ('problem' in record) {
        if (columns === null) throw usage(`${nameOf(file)}, line ${line}: ${record.problem}`);
        hasLines = true;
        yield invalid({ line }, record.problem);
        continue;
      }
      const { cells } = record;
      hasLines ||= columns !== null;
      if (results !== null && !isWhole(results, cells)) yield invalid({ line }, notWhole);
      else if (columns !== null)
        yield secrets?.areIn(cells)
          ? besideSecrets(source, columns, cells, line)
          : itemOf(source, columns, cells, line);
      else {
        if (isHeader(cells)) results = cells;
        const header = columnsOf(source, cells);
        columns = header ?? ['deviceId'];
        checkColumns(source, header, cells);
        hasLines = header === null;
        secrets = new SecretColumns(cells, index => columns?.[index] === null);
        if (header === null) yield itemOf(source, columns, cells, line);
      }
    }
    if (!hasLines)
      throw usage(
        columns === null ? `${nameOf(file)} is empty` : `${nameOf(file)} names no device: it has only a header row`,
        'it needs a deviceId or a serial number on each line',
      );
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** A row of `enroll --out`. */
const notWhole = 'the row is incomplete, or was changed after it was written';

/** The columns if the record is a header row; null if it is a line of a plain list. */
function columnsOf({ operation }: FileSource, cells: readonly string[]): Columns | null {
  const names = operation === null ? { ...columnNames, ...labelColumns } : columnNames;
  const columns = cells.map(cell => names[cell.toLowerCase().replace(/[^a-z]/g, '')] ?? null);
  return columns.includes('deviceId') || columns.includes('serialNumber') ? columns : null;
}

function checkColumns(
  { file, operation, userId }: FileSource,
  columns: Columns | null,
  cells: readonly string[],
): void {
  const name = nameOf(file);
  if (columns === null && cells.length > 1)
    throw usage(
      `${name} has no column deviceId or serialNumber`,
      // A line of data may hold secrets.
      `the first line must be a header row with the names of the columns${isDataLine(cells) ? '' : `; it is: ${cells.join(', ').slice(0, 200)}`}`,
    );
  const doubled = columns?.find((field, index) => field !== null && columns.indexOf(field) !== index);
  if (doubled) throw usage(`${name} has two columns for ${doubled}`, 'remove one of them');
  if (operation !== 'ACTIVATE') return;
  if (!columns?.includes('activationCode'))
    throw usage(`${name} has no column activationCode`, 'use CSV with a header row, such as the results of register');
  if (userId === undefined && !columns.includes('userId'))
    throw usage(`${name} has no column userId`, 'add it, or give one user for all: --user USER');
}

/** Characters. No name, code or user is longer; a longer text would make requests that the server does not take. */
const maxCell = 200;

const itemOf = (source: FileSource, columns: Columns, cells: readonly string[], line: number): Item => ({
  ...readItem(source, columns, cells, line),
  isListed: columns.length === 1 && columns[0] === 'deviceId',
});

/** A line of a file with secrets: one of them may be in the place of a serial number, so an invalid line is not shown. */
function besideSecrets(source: FileSource, columns: Columns, cells: readonly string[], line: number): Item {
  if (cells.length !== columns.length) return invalid({ line }, cellsWords(cells, columns));
  const item = itemOf(source, columns, cells, line);
  const judged = judgedSerial(item.target.serialNumber ?? '', { ...plainSerial, hasSecrets: true });
  if ('problem' in judged) return invalid({ line }, `serialNumber ${judged.problem}`);
  return item.problem === null ? item : { ...item, target: { line } };
}

const plainSerial = { deviceType: null, column: '', asIs: true } as const;

const cellsWords = (cells: readonly string[], { length }: Columns): string =>
  `the line has ${cells.length} cells, expected ${length}`;

function readItem(source: FileSource, columns: Columns, cells: readonly string[], line: number): Item {
  const values: Partial<Record<Field, string>> = {};
  for (const [index, field] of columns.entries()) {
    const text = field === null ? '' : cellText(cells[index] ?? '').trim();
    if (field !== null && text !== '') values[field] = text;
  }
  const broken = Object.entries(values).find(([, text]) => text.length > maxCell || text.includes('\ufffd'));
  if (broken) {
    const [field, text] = broken;
    const why = text.length > maxCell ? `has more than ${maxCell} characters` : 'is not valid UTF-8';
    return invalid({ line }, `${field} ${why}`);
  }
  const target = targetIn(values, line);
  if (cells.slice(columns.length).some(cell => cell.trim() !== '')) return invalid(target, cellsWords(cells, columns));
  if (target.deviceId === undefined && unregistered.has(values.result))
    return { target, fields: {}, problem: null, unregistered: true };
  if (target.deviceId === undefined && target.serialNumber === undefined)
    return invalid(target, 'the line names no device');
  const { name } = values;
  if (source.operation !== 'ACTIVATE') return { target, fields: name === undefined ? {} : { name }, problem: null };
  const { activationCode, userId = source.userId } = values;
  if (activationCode === undefined) return invalid(target, 'activationCode is missing');
  if (userId === undefined) return invalid(target, 'userId is missing');
  return { target, fields: { activationCode: writtenActivationCode(activationCode), userId }, problem: null };
}

async function listedItem(item: Item, devices: NamedDevices): Promise<Item> {
  const { line, deviceId } = item.target;
  if (line === undefined || deviceId === undefined) return item;
  const found = await devices.find(deviceId);
  if (found instanceof Fault) return invalid({ line, deviceId }, noticeOf(found));
  return { ...item, target: { line, ...found } };
}

function targetIn({ deviceId, serialNumber }: Partial<Record<Field, string>>, line: number): Target {
  return {
    line,
    ...(deviceId === undefined ? {} : { deviceId }),
    ...(serialNumber === undefined ? {} : { serialNumber }),
  };
}

/** The problem of an item whose device does not exist. */
const absent: Item['problem'] = {
  code: Code.deviceNotFound,
  message: 'no device has this deviceId or serial number',
};

const invalid = (target: Target, message: string): Item => ({
  target,
  fields: {},
  problem: { code: Code.parameterError, message },
});
