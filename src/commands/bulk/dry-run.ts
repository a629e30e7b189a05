/** What a run would do, line by line, without doing it. */
import type { Client } from '../../client/client.ts';
import { interrupted } from '../../fault.ts';
import { allDevices } from '../all-devices.ts';
import type { Context } from '../context.ts';
import { findBySerial } from '../device.ts';
import type { LineResult, ResultFile, ResultWriter } from './results.ts';
import type { Source } from './rows.ts';

const pageSize = 100;
const invalidLines = 7;
const written = 1_000;

export async function dryRun(
  context: Context,
  source: Source,
  writer: ResultWriter,
  file: ResultFile | null,
): Promise<number> {
  const { io, registry, out, globals } = context;
  const results: LineResult[] = [];
  const lineOf = new Map<string, number>();
  try {
    for await (const row of source.rows) {
      if (io.interrupt.aborted) throw interrupted();
      const { line, serialNumber } = row;
      if (!('item' in row)) {
        results.push({
          line,
          serialNumber,
          status: 'invalid',
          ...(row.field ? { field: row.field } : {}),
          message: row.problem,
        });
        continue;
      }
      const earlier = lineOf.get(row.item.serialNumber);
      if (earlier !== undefined)
        results.push({
          line,
          serialNumber,
          status: 'invalid',
          field: 'serialNumber',
          message: `the same serial number stands in line ${earlier}`,
        });
      else {
        lineOf.set(row.item.serialNumber, line);
        results.push({ line, serialNumber, status: 'new', message: 'would be registered' });
      }
    }
    const registered = await registeredOf(registry, lineOf);
    const counts = { new: 0, registered: 0, invalid: 0 };
    for (let start = 0; start < results.length; start += written) {
      const part = results.slice(start, start + written).map((result): LineResult => {
        const device =
          result.status === 'new' && result.serialNumber !== null ? registered.get(result.serialNumber) : undefined;
        return device
          ? {
              ...result,
              status: 'registered',
              deviceId: device.deviceId,
              message: `already exists: ${device.deviceId} (${device.status})`,
            }
          : result;
      });
      for (const { status } of part) counts[status as keyof typeof counts]++;
      file?.write(part);
      await writer.write(part);
    }
    if (!globals.json)
      out.notice(
        `Dry run: ${counts.new} new, ${counts.registered} registered already, ${counts.invalid} invalid. Nothing was changed.`,
      );
    return counts.invalid > 0 ? invalidLines : 0;
  } finally {
    file?.close();
  }
}

interface Registered {
  readonly deviceId: string;
  readonly status: string;
}

/** Which of the serial numbers are registered: one by one, or by reading the whole list where that takes fewer requests. */
async function registeredOf(
  registry: Client,
  serials: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, Registered>> {
  const found = new Map<string, Registered>();
  const { pagination } = await registry.call('listDevices', { query: { size: 1 } });
  if (serials.size < pagination.total / pageSize) {
    for (const serial of serials.keys()) {
      const { exact } = await findBySerial(registry, serial);
      if (exact) found.set(serial, exact);
    }
    return found;
  }
  for await (const { list } of allDevices(registry, { sortBy: 'deviceId', sortOrder: 'asc' }))
    for (const { serialNumber, deviceId, status } of list)
      if (serials.has(serialNumber)) found.set(serialNumber, { deviceId, status });
  return found;
}
