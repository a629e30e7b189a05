/** Groups rows into batches, and joins rows with the results of their batch. */
import { Code } from '../../contract/codes.ts';
import type { BatchItem } from '../../contract/devices.ts';
import { sizes } from '../../contract/limits.ts';
import { bindingOf, type LineResult, unsentResult } from './result.ts';
import type { Row, SentRow } from './row.ts';

/** The rest of the largest request body is for what surrounds the items. */
const maxItemBytes = sizes.batchBody - 1024 * 1024;

const utf8 = new TextEncoder();

/**
 * The rows in groups of at most `maxRows` that fit into one request; the first group has at most `firstRows`. Invalid rows count,
 * but take no bytes.
 */
export async function* batchesOf(
  rows: AsyncIterable<Row>,
  maxRows: number,
  firstRows = maxRows,
): AsyncGenerator<readonly Row[]> {
  let batch: Row[] = [];
  let bytes = 0;
  let limit = firstRows;
  for await (const row of rows) {
    const size = 'device' in row ? utf8.encode(JSON.stringify(row.device)).length + 1 : 0;
    if (batch.length >= limit || bytes + size > maxItemBytes) {
      yield batch;
      limit = maxRows;
      batch = [];
      bytes = 0;
    }
    batch.push(row);
    bytes += size;
  }
  if (batch.length) yield batch;
}

/** One result per row: the server's if the row was sent, else the reason why it is invalid. `results` has one per sent row. */
export function lineResults(rows: readonly Row[], results: readonly BatchItem[]): LineResult[] {
  let next = 0;
  return rows.map(row => ('device' in row ? resultOf(row, results[next++]!) : unsentResult(row, 'failed')));
}

function resultOf({ position, serialNumber, device }: SentRow, item: BatchItem): LineResult {
  const { status, deviceId, code, message } = item;
  if (status === 'success' && deviceId)
    return { ...position, serialNumber, status, deviceId, ...bindingOf(device, item), message };
  const field = code === Code.serialDuplicated ? { field: 'serialNumber' } : {};
  return { ...position, serialNumber, status: 'failed', ...(code === undefined ? {} : { code }), ...field, message };
}
