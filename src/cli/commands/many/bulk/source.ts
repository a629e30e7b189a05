/** The devices that a command changes: named on the command line, or read from a file. `selection.ts` has those of filters. */
import { Code } from '../../../../contract/codes.ts';
import { formsOf } from '../../../../contract/iccid.ts';
import { writtenActivationCode } from '../../../../contract/ids.ts';
import type { BatchOperation } from '../../../../contract/values.ts';
import { type ListField, listFields } from '../../../../tables/fields.ts';
import { judgedSerial } from '../../../../tables/serial-values.ts';
import { openTable, type Table } from '../../../../tables/table.ts';
import type { TableRow } from '../../../../tables/table-row.ts';
import { Fault, usage } from '../../../fault.ts';
import { type Context, notify } from '../../../framework/context.ts';
import { deviceSearch, NamedDevices, registeredForms } from '../../../framework/devices/find-device.ts';
import { noticeOf } from '../../../jobs/input-file.ts';
import { isHeader, isWhole } from '../../../jobs/result-rows.ts';
import { bytesOf, encodingFault, readable, readableRows, type TableWords } from '../../../jobs/table-file.ts';
import { keepMap, type TableFlags, tableChoices } from '../../../jobs/table-flags.ts';

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

/** The devices in a file, for a command that needs only the names. */
export async function namedInFile(context: Context, file: string, flags: TableFlags): Promise<Item[]> {
  const items: Item[] = [];
  const source = { file, flags, notice: (text: string) => notify(context, text), userId: undefined, operation: null };
  for await (const item of itemsOfFile(context, source)) items.push(item);
  return items;
}

/** Which file to read, and for which operation. */
interface ListSource {
  readonly file: string;
  readonly flags: TableFlags;
  /** Called with a remark on the file. */
  readonly notice: (text: string) => void;
  /** Null for a command that needs only the names. */
  readonly operation: BatchOperation | null;
  /** The user for lines that name none. */
  readonly userId: string | undefined;
  /** Called once with what the file has. */
  readonly preview?: (table: Table<ListField>) => void;
}

/** Results of `enroll` for keys that it did not register. */
const unregistered: ReadonlySet<string | undefined> = new Set(['failed', 'spooled', 'new']);

const words: TableWords = {
  none: 'names no device',
  needs: 'it needs a deviceId or a serial number on each line',
  flagOf: { userId: '--user' },
};

/** The devices in a file, in constant memory. Throws a usage fault if the file as a whole is not readable or not valid. */
export async function* itemsOfFile(context: Context, source: ListSource): AsyncGenerator<Item> {
  const devices = new NamedDevices(context);
  let formOf: Awaited<ReturnType<typeof registeredForms>> | null = null;
  for await (const item of linesOfFile(context, source)) {
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

async function* linesOfFile(context: Context, source: ListSource): AsyncGenerator<Item> {
  const { file, flags, operation, userId } = source;
  const codes = operation === 'ACTIVATE' ? [['activationCode'] as const] : [];
  const users = operation === 'ACTIVATE' && userId === undefined ? [['userId'] as const] : [];
  const table = await readable(file, words, () =>
    openTable(bytesOf({ file, stdin: context.io.stdin }), {
      ...tableChoices(context, flags, listFields),
      file,
      fields: listFields,
      plain: 'deviceId',
      required: [['deviceId', 'serialNumber'], ...codes, ...users],
      checkLine: (names, cells) => (isHeader(names) && !isWhole(names, cells) ? notWhole : null),
    }),
  );
  source.preview?.(table);
  await keepMap(context, flags);
  const isListed = table.shape.headerLine === null && table.columns.length === 1;
  for await (const row of readableRows(file, words, table.rows)) yield { ...itemOf(source, row), isListed };
  // Each line with bytes that are not valid is refused; the others are sent.
  const fault = encodingFault(file, table);
  if (fault !== null) source.notice(noticeOf(fault));
}

/** A row of `enroll --out`. */
const notWhole = 'the row is incomplete, or was changed after it was written';

/** Characters. No name, code or user is longer; a longer text would make requests that the server does not take. */
const maxCell = 200;

/** A line of a file with secrets may have one of them in the place of a serial number: an invalid line is not shown. */
function itemOf(source: ListSource, row: TableRow<ListField>): Item {
  const { line } = row.position;
  if (row.problem !== null) return invalid({ line }, row.problem);
  const item = readItem(source, row);
  if (!row.hasSecrets) return item;
  const judged = judgedSerial(item.target.serialNumber ?? '', { ...plainSerial, hasSecrets: true });
  if ('problem' in judged) return invalid({ line }, `serialNumber ${judged.problem}`);
  return item.problem === null ? item : { ...item, target: { line } };
}

const plainSerial = { deviceType: null, column: '', asIs: true } as const;

function readItem(source: ListSource, { position: { line }, values: read }: TableRow<ListField>): Item {
  const filled = Object.entries(read).map(([field, value]) => [field, String(value ?? '').trim()] as const);
  const values: Partial<Record<ListField, string>> = Object.fromEntries(filled.filter(([, text]) => text !== ''));
  // Labels alone have a name.
  const used = filled.filter(([field]) => field !== 'name' || source.operation === null);
  const broken = used.find(([, text]) => text.length > maxCell || text.includes('\ufffd'));
  if (broken) {
    const [field, text] = broken;
    const why = text.length > maxCell ? `has more than ${maxCell} characters` : 'is not valid UTF-8';
    return invalid({ line }, `${field} ${why}`);
  }
  const target = targetIn(values, line);
  if (source.operation === null && target.deviceId === undefined && unregistered.has(values.result))
    return { target, fields: {}, problem: null, unregistered: true };
  if (target.deviceId === undefined && target.serialNumber === undefined)
    return invalid(target, 'the line names no device');
  const { name } = values;
  if (source.operation !== 'ACTIVATE')
    return { target, fields: name === undefined || source.operation !== null ? {} : { name }, problem: null };
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

function targetIn({ deviceId, serialNumber }: Partial<Record<ListField, string>>, line: number): Target {
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
