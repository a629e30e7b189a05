/** One result per device: how it is shown, and how it is stored for `--resume`. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { cellText } from '../../../contract/csv.ts';
import type { BatchOperation } from '../../../contract/values.ts';
import type { Context } from '../../context.ts';
import { usage } from '../../fault.ts';
import { safe, safeJson } from '../../terminal/text.ts';
import { readRecords, wholeBytes } from '../import/earlier-results.ts';
import { maxShown } from '../import/results.ts';
import type { ServerResult } from './send.ts';
import type { Item, Target } from './source.ts';

/** The result for one device; the names are those of the output. */
export interface BulkResult extends Target {
  readonly operation: BatchOperation;
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

/** Writes results to standard output: as JSON lines, as ids of changed devices, or for people. */
export class BulkWriter {
  readonly #context: Context;
  readonly #toFile: boolean;
  #shown = 0;

  /** With a file, people see only the failures. */
  constructor(context: Context, toFile: boolean) {
    this.#context = context;
    this.#toFile = toFile;
  }

  async write(results: readonly BulkResult[]): Promise<void> {
    const { out, globals } = this.#context;
    if (globals.json) return out.text(results.map(result => `${safeJson(result)}\n`).join(''));
    if (globals.quiet)
      return out.text(
        results.map(({ status, deviceId = '' }) => (status === 'success' ? `${safe(deviceId)}\n` : '')).join(''),
      );
    if (!this.#toFile) return out.text(results.map(result => `${this.#line(result)}\n`).join(''));
    for (const result of results) {
      if (result.status === 'success') continue;
      this.#shown++;
      if (this.#shown <= maxShown) out.notice(this.#line(result));
      else if (this.#shown === maxShown + 1) out.notice('… further failures are in the results');
    }
    return undefined;
  }

  #line({ line, deviceId, serialNumber = '', status, activationCode, message, data }: BulkResult): string {
    const { paint } = this.#context.out;
    const where = line === undefined ? '' : `${`line ${line}`.padEnd(10)} `;
    const name = safe(deviceId ?? '-');
    if (status === 'failed') return `${where}${paint('red', '✗')} ${name}  ${safe(serialNumber)}  ${safe(message)}`;
    const state = (data as { readonly status?: unknown } | null | undefined)?.status;
    const what = activationCode ?? (typeof state === 'string' ? state : 'changed before');
    return `${where}${paint('green', '✓')} ${name}  ${safe(what)}  ${safe(serialNumber)}`;
  }
}

/** The devices in the results of earlier runs. */
export interface EarlierResults {
  /** Bytes of the complete results. */
  readonly bytes: number;
  /** Number of results. */
  readonly count: number;
  /** Names of the devices that were changed. */
  readonly changed: ReadonlySet<string>;
  /** Names of the devices with a result after the first `from`. */
  readonly last: ReadonlySet<string>;
}

/** Names under which a device is found in results. */
export const namesOf = ({ deviceId, serialNumber }: Target): string[] => [
  ...(deviceId === undefined ? [] : [`id ${deviceId}`]),
  ...(serialNumber === undefined ? [] : [`serial ${serialNumber}`]),
];

/**
 * Reads the results in a file; none if it does not exist. `from` is the number of results before the last batch, null if no run
 * was interrupted. Throws a usage fault if the file contains anything but results of the operation.
 */
export async function readEarlier(
  file: string,
  operation: BatchOperation,
  from: number | null,
): Promise<EarlierResults> {
  const changed = new Set<string>();
  const last = new Set<string>();
  const exists = existsSync(file) && statSync(file).size > 0;
  const bytes = exists ? wholeBytes(file) : 0;
  let count = 0;
  const foreign = () =>
    usage(
      `${file} does not contain results of ${operation}`,
      'name another file with --out, or give the command that wrote it',
    );
  for await (const record of readRecords(file, bytes, foreign)) {
    if (record.operation !== operation || (record.status !== 'success' && record.status !== 'failed')) throw foreign();
    const names = namesOf({ ...textOf('deviceId', record), ...textOf('serialNumber', record) });
    for (const name of names) {
      if (record.status === 'success') changed.add(name);
      if (from !== null && count >= from) last.add(name);
    }
    count++;
  }
  // An interrupted run may have left a part of its first line.
  if (exists && count === 0 && from === null && !isHeader(file)) throw foreign();
  return { bytes, count, changed, last };
}

/** Whether a file has only the header row: the results of a run that changed nothing. */
export function isHeader(file: string): boolean {
  const header = `${resultFields().join(',')}\n`;
  return statSync(file).size === Buffer.byteLength(header) && readFileSync(file, 'utf8') === header;
}

const textOf = (field: 'deviceId' | 'serialNumber', record: Readonly<Record<string, unknown>>): Target =>
  typeof record[field] === 'string' && record[field] !== '' ? { [field]: cellText(record[field]) } : {};
