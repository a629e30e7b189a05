/** One result per device: how it is shown, and how it is stored for `--resume`. */
import { readFileSync, statSync } from 'node:fs';
import { cellText } from '../../../../contract/csv.ts';
import type { DataOf } from '../../../../contract/define.ts';
import type { Routes } from '../../../../contract/routes.ts';
import type { BatchOperation } from '../../../../contract/values.ts';
import type { Context } from '../../../framework/context.ts';
import { usage } from '../../../framework/fault.ts';
import { readRecords, wholeBytes } from '../../../jobs/result-file.ts';
import { ResultWriter } from '../../../jobs/result-writer.ts';
import { safe } from '../../../terminal/text.ts';
import type { Item, Target } from './source.ts';

/** What a run does to each device: a change, or `LABEL`, which prints a label and changes nothing. */
export type RunOperation = BatchOperation | 'LABEL';

/** The result for one device; the names are those of the output. */
export interface BulkResult extends Target {
  readonly operation: RunOperation;
  readonly status: 'success' | 'failed';
  /** The new code, if the operation creates one. */
  readonly activationCode?: string;
  readonly expiresAt?: string;
  /** Business code of a failure. */
  readonly code?: number;
  readonly message: string;
  /** What the single operation returns; null if that is not known. */
  readonly data?: object | null;
}

/** What the server returns for an item. */
export type ServerResult = DataOf<Routes['batchUpdateDevices']>['results'][number];

/** The columns of the results as CSV. */
export const resultFields = (): readonly (keyof BulkResult)[] => [
  'line',
  'operation',
  'deviceId',
  'serialNumber',
  'status',
  'activationCode',
  'expiresAt',
  'code',
  'message',
];

/** The result for an item that was sent. */
export function resultOf(operation: BatchOperation, target: Target, result: ServerResult): BulkResult {
  const { deviceId, serialNumber, status, code, message } = result;
  const base = {
    ...target,
    ...(deviceId === null ? {} : { deviceId }),
    ...(serialNumber === null ? {} : { serialNumber }),
    operation,
  };
  if (status !== 'success') return { ...base, status: 'failed', code, message };
  const data = result.data as { readonly activationCode?: string; readonly expiresAt?: string } | null;
  const codes =
    operation === 'GENERATE_CODE' && data
      ? definedTexts({ activationCode: data.activationCode, expiresAt: data.expiresAt })
      : {};
  return { ...base, status, ...codes, message, data };
}

const definedTexts = (texts: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(Object.entries(texts).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));

/** The result for an item that was not sent. */
export const invalidResult = (
  operation: BatchOperation,
  { target }: Item,
  { code, message }: NonNullable<Item['problem']>,
): BulkResult => ({ ...target, operation, status: 'failed', code, message });

/** Writes results to standard output. With `toFile`, people see only the failures. */
export const writerOf = (context: Context, toFile: boolean): ResultWriter<BulkResult> =>
  new ResultWriter(context, { toFile, line: result => lineOf(context.out.paint, result) });

function lineOf(paint: Context['out']['paint'], result: BulkResult): string {
  const { line, deviceId, serialNumber = '', status, activationCode, message, data } = result;
  const where = line === undefined ? '' : `${`line ${line}`.padEnd(10)} `;
  const name = safe(deviceId ?? '-');
  if (status === 'failed') return `${where}${paint('red', '✗')} ${name}  ${safe(serialNumber)}  ${safe(message)}`;
  const state = (data as { readonly status?: unknown } | null | undefined)?.status;
  const what = activationCode ?? (typeof state === 'string' ? state : '');
  return `${where}${paint('green', '✓')} ${name}  ${safe(what)}  ${safe(serialNumber)}`;
}

/** The devices in the results of earlier runs. */
interface EarlierResults {
  /** Bytes of the complete results. */
  readonly bytes: number;
  /** Names of the devices that were changed. */
  readonly changed: ReadonlySet<string>;
}

/** Names under which a device is found in results. */
export const namesOf = ({ deviceId, serialNumber }: Target): string[] => [
  ...(deviceId === undefined ? [] : [`id ${deviceId}`]),
  ...(serialNumber === undefined ? [] : [`serial ${serialNumber}`]),
];

/**
 * Reads the results in the first `stored` bytes of a file; null reads all, and a file that does not exist has none. Throws a usage
 * fault if the file contains anything but results of the operation, or less than was stored.
 */
export async function readEarlier(
  file: string,
  operation: RunOperation,
  stored: number | null,
): Promise<EarlierResults> {
  const changed = new Set<string>();
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const bytes = stored ?? (size > 0 ? wholeBytes(file) : 0);
  if (size < bytes)
    throw usage(`${file} no longer contains all results of the interrupted run`, 'restore it, or name another file');
  let count = 0;
  const foreign = () =>
    usage(
      `${file} does not contain results of ${operation}`,
      'name another file with --out, or give the command that wrote it',
    );
  for await (const record of readRecords(file, bytes, foreign)) {
    if (record.operation !== operation || (record.status !== 'success' && record.status !== 'failed')) throw foreign();
    count++;
    if (record.status !== 'success') continue;
    for (const name of namesOf({ ...textOf('deviceId', record), ...textOf('serialNumber', record) })) changed.add(name);
  }
  // An interrupted run may have left a part of its first line.
  if (size > 0 && count === 0 && stored === null && !isHeader(file)) throw foreign();
  return { bytes, changed };
}

/** Whether a file has only the header row: the results of a run that changed nothing. */
export function isHeader(file: string): boolean {
  const header = `${resultFields().join(',')}\n`;
  return statSync(file).size === Buffer.byteLength(header) && readFileSync(file, 'utf8') === header;
}

const textOf = (field: 'deviceId' | 'serialNumber', record: Readonly<Record<string, unknown>>): Target =>
  typeof record[field] === 'string' && record[field] !== '' ? { [field]: cellText(record[field]) } : {};
