/** One result per device: how it is shown, and how it is stored for `--resume`. */
import { cellText } from '../../../../contract/csv.ts';
import type { DataOf } from '../../../../contract/define.ts';
import { namesIn } from '../../../../contract/names.ts';
import type { Routes } from '../../../../contract/routes.ts';
import type { BatchOperation } from '../../../../contract/values.ts';
import { usage } from '../../../fault.ts';
import type { Context } from '../../../framework/context.ts';
import { JobFiles } from '../../../jobs/job-files.ts';
import { ResultWriter } from '../../../jobs/result-writer.ts';
import { safe } from '../../../terminal/text.ts';
import type { Item, Target } from './source.ts';

/** Operation of a run on each device: a change, or `LABEL`, which prints a label and changes nothing. */
type RunOperation = BatchOperation | 'LABEL';

/** The result for one device; the names are those of the output. */
export interface BulkResult extends Target {
  readonly operation: RunOperation;
  /** `planned`: it would be changed (in a dry run). */
  readonly status: 'success' | 'failed' | 'planned';
  /** The new code, if the operation creates one. */
  readonly activationCode?: string;
  readonly expiresAt?: string;
  /** Business code of a failure. */
  readonly code?: number;
  readonly message: string;
  /** Result of the single operation; null if that is not known. */
  readonly data?: object | null;
}

/** Result of the server for an item. */
export type ServerResult = DataOf<Routes['batchUpdateDevices']>['results'][number];

/** The columns of the results as CSV. */
export const resultFields = (): readonly (keyof BulkResult)[] =>
  namesIn('line operation deviceId serialNumber status activationCode expiresAt code message');

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

/** Writes results to standard output. With `toFile`, people see only the failures. `idWidth`: cells of the column of ids. */
export const writerOf = (context: Context, toFile: boolean, idWidth = () => 0): ResultWriter<BulkResult> =>
  new ResultWriter(context, { toFile, line: result => lineOf(context.out.paint, result, idWidth()) });

function lineOf(paint: Context['out']['paint'], result: BulkResult, idWidth: number): string {
  const { line, deviceId, serialNumber = '', status, activationCode, message, data } = result;
  const where = line === undefined ? '' : `${`line ${line}`.padEnd(10)} `;
  const name = safe(deviceId ?? '-').padEnd(idWidth);
  if (status === 'failed') return `${where}${paint('red', '✗')} ${name}  ${safe(serialNumber)}  ${safe(message)}`;
  if (status === 'planned') return `${where}${paint('cyan', '+')} ${name}  ${safe(message)}  ${safe(serialNumber)}`;
  const state = (data as { readonly status?: unknown } | null | undefined)?.status;
  const what = activationCode ?? (typeof state === 'string' ? state : null);
  return `${where}${paint('green', '✓')} ${name}${what === null ? '' : `  ${safe(what)}`}  ${safe(serialNumber)}`;
}

/** Names under which a device is found in results. */
export const namesOf = ({ deviceId, serialNumber }: Target): string[] => [
  ...(deviceId === undefined ? [] : [`id ${deviceId}`]),
  ...(serialNumber === undefined ? [] : [`serial ${serialNumber}`]),
];

/** A batch that was sent, and whose results are not stored. */
export interface PendingBatch {
  /** Its idempotency key. */
  readonly key: string;
  readonly items: readonly Item[];
  /** Fields of every item that does not have its own. */
  readonly common: Readonly<Record<string, unknown>>;
}

/** State that is stored until a run is complete. */
export interface BulkProgress {
  readonly pending: PendingBatch | null;
}

export type BulkFiles = JobFiles<BulkResult, BulkProgress>;

/** Opens the results of a run. Null without `--out`. Throws a usage fault if a run that does not resume would lose results. */
export function bulkFiles(
  { globals }: Context,
  operation: RunOperation,
  { out, resume }: { readonly out: string | undefined; readonly resume: boolean },
): BulkFiles | null {
  if (out === undefined) return null;
  const files: BulkFiles = new JobFiles<BulkResult, BulkProgress>({
    out,
    input: null,
    asJson: globals.json,
    columns: resultFields,
    content: `results of ${operation}`,
    startOver: 'name another file with --out',
    identity: { operation },
    refusalOf: stored =>
      stored.operation === operation ? null : `the interrupted run was ${stored.operation}, not ${operation}`,
    isProgress,
  });
  try {
    if (resume && files.results === null) throw usage(`${out} is not a file that a run can continue`);
    if (!resume) files.demandUnused();
    return files;
  } catch (error) {
    files.close();
    throw error;
  }
}

function isProgress({ pending }: Readonly<Record<string, unknown>>): boolean {
  const { key, items } = (pending ?? { key: '', items: [] }) as Partial<PendingBatch>;
  return typeof key === 'string' && Array.isArray(items);
}

/** Names of the devices that earlier runs have changed. Throws a usage fault if the file contains anything but results of the operation. */
export async function changedBefore(files: BulkFiles, operation: RunOperation): Promise<ReadonlySet<string>> {
  const changed = new Set<string>();
  for await (const record of files.earlier()) {
    const { status } = record;
    if (record.operation !== operation || (status !== 'success' && status !== 'failed')) throw files.foreign();
    if (status === 'success')
      for (const name of namesOf({ ...textOf('deviceId', record), ...textOf('serialNumber', record) }))
        changed.add(name);
  }
  return changed;
}

const textOf = (field: 'deviceId' | 'serialNumber', record: Readonly<Record<string, unknown>>): Target =>
  typeof record[field] === 'string' && record[field] !== '' ? { [field]: cellText(record[field]) } : {};
