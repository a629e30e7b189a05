/** The stream of an export, read to its end or not at all. */

import type { QueryOf } from '../../../contract/define.ts';
import type { DeviceListItem } from '../../../contract/devices.ts';
import { objectIn } from '../../../contract/json-object.ts';
import type { Routes } from '../../../contract/routes.ts';
import type { ExportFormat } from '../../../contract/values.ts';
import { itemProblem } from '../../client/envelope.ts';
import { fieldsOf } from '../../client/exchange.ts';
import { Unreachable } from '../../client/failures.ts';
import { failure } from '../../fault.ts';
import type { Context } from '../context.ts';

/** Which devices are exported. */
export type ExportFilter = Partial<QueryOf<Routes['exportDevices']>>;

/** Selection and form of an export. */
export type ExportQuery = ExportFilter & { readonly format: ExportFormat };

/** A device of an export; with `names`, also the name of its person. */
export type ExportedDevice = DeviceListItem & { readonly name?: string | null };

/** The matching devices, by id unless the filter has another order. Throws a fault if the export is incomplete. */
export async function* exportedDevices(
  context: Context,
  filter: ExportFilter,
  label: string | null = 'Selecting',
): AsyncGenerator<ExportedDevice> {
  for await (const text of exportedText(context, { ...filter, format: 'ndjson' }, label))
    for (const line of text.split('\n')) if (line !== '') yield deviceOf(line);
}

const fields = fieldsOf('listDevices');

function deviceOf(line: string): ExportedDevice {
  const device = objectIn(line);
  const problem = device === null ? 'a line is not a JSON object' : itemProblem(device, fields);
  if (problem === null) return device as unknown as ExportedDevice;
  throw failure(`the export is not valid: ${problem}`, 'try again');
}

/**
 * The text of an export in whole lines; without the last line of NDJSON, whose count is compared. Throws a fault if it is incomplete.
 * Progress is shown under `label`.
 */
export async function* exportedText(
  { registry, out }: Context,
  query: ExportQuery,
  label: string | null,
): AsyncGenerator<string> {
  const lines = new Lines();
  const { bytes } = await registry.download({ operation: 'exportDevices', input: { query } });
  try {
    for await (const chunk of bytes) {
      const text = lines.take(chunk, query.format === 'ndjson');
      if (text) yield text;
      if (label !== null) out.progress.show(label, lines.count, null);
    }
  } catch (error) {
    if (error instanceof Unreachable)
      throw new Unreachable('the connection was lost during the export', false, 'try again');
    throw error;
  } finally {
    out.progress.clear();
  }
  const rest = lines.finish(query.format === 'ndjson');
  if (rest) yield rest;
}

/** UTF-16 units. A device has a few thousand; the header row of CSV names all tags of a registry. */
const maxLine = 16 * 2 ** 20;

/** Divides the bytes of an export into whole lines. */
class Lines {
  /** Number of complete lines. */
  count = 0;
  readonly #decoder = new TextDecoder();
  #rest = '';
  #last = '';

  /** The lines that are complete; of NDJSON the last one is kept back, because it may be the end. Throws a fault if a line is too long. */
  take(chunk: Buffer, keepsLast: boolean): string {
    const text = this.#rest + this.#decoder.decode(chunk, { stream: true });
    const end = text.lastIndexOf('\n') + 1;
    this.#rest = text.slice(end);
    if (this.#rest.length > maxLine) throw failure('the export is not valid: a line has more than 16 MiB', 'try again');
    const complete = text.slice(0, end);
    for (let at = complete.indexOf('\n'); at >= 0; at = complete.indexOf('\n', at + 1)) this.count++;
    if (!keepsLast || complete === '') return complete;
    const start = complete.lastIndexOf('\n', end - 2) + 1;
    const ready = this.#last + complete.slice(0, start);
    this.#last = complete.slice(start);
    return ready;
  }

  /** Rest of the export. Throws a fault if NDJSON does not end with the number of its lines. */
  finish(isNdjson: boolean): string {
    if (!isNdjson) return this.#rest;
    if (this.#rest === '' && isEnd(this.#last, this.count - 1)) return '';
    throw failure('the export is incomplete: its last line is missing', 'try again');
  }
}

function isEnd(line: string, count: number): boolean {
  const last = objectIn(line);
  return last?.end === true && last.count === count;
}
