/** Rows as they are sent, and their results as they are written. */
import type { BatchItem } from '../../../contract/devices.ts';
import { sizes } from '../../../contract/limits.ts';
import type { LineResult } from './results.ts';
import type { Row } from './rows.ts';

/** Left free of the largest body for what stands around the items. */
const mostBytes = sizes.batchBody - 1024 * 1024;

/** The rows, so many at a time, and no more than fit into one request. */
export async function* chunksOf(rows: AsyncIterable<Row>, most: number): AsyncGenerator<readonly Row[]> {
  let chunk: Row[] = [];
  let bytes = 0;
  for await (const row of rows) {
    const size = 'device' in row ? Buffer.byteLength(JSON.stringify(row.device)) + 1 : 0;
    if (chunk.length >= most || bytes + size > mostBytes) {
      yield chunk;
      chunk = [];
      bytes = 0;
    }
    chunk.push(row);
    bytes += size;
  }
  if (chunk.length) yield chunk;
}

/** One result for each row: of the server where it was sent, else what is wrong with it. */
export function joined(rows: readonly Row[], results: readonly BatchItem[]): LineResult[] {
  let next = 0;
  return rows.map(({ place, serialNumber, ...row }): LineResult => {
    if (!('device' in row))
      return {
        ...place,
        serialNumber,
        status: 'failed',
        code: 1001,
        ...(row.field ? { field: row.field } : {}),
        message: row.problem,
      };
    const { status, deviceId, activationCode, code, message } = results[next++]!;
    if (status === 'success' && deviceId)
      return { ...place, serialNumber, status, deviceId, ...(activationCode ? { activationCode } : {}), message };
    const field = code === 2006 ? { field: 'serialNumber' } : {};
    return { ...place, serialNumber, status: 'failed', ...(code === undefined ? {} : { code }), ...field, message };
  });
}
