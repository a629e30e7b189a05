/** What a run would do, line by line, without doing it. */
import { paging } from '../../../contract/limits.ts';
import type { Client } from '../../client/client.ts';
import type { Context } from '../../context.ts';
import { exitCodes } from '../../exit-codes.ts';
import { interrupted } from '../../fault.ts';
import { allDevices } from '../devices/all-devices.ts';
import { findBySerial } from '../devices/find-device.ts';
import { type Place, placeWords } from './line-number.ts';
import type { LineResult, ResultFile, ResultWriter } from './results.ts';
import type { Source } from './rows.ts';

const written = 1_000;

export async function dryRun(
  context: Context,
  source: Source,
  writer: ResultWriter,
  file: ResultFile | null,
): Promise<number> {
  const { io, registry, out, globals } = context;
  const results: LineResult[] = [];
  const placeOf = new Map<string, Place>();
  try {
    for await (const row of source.rows) {
      if (io.interrupt.aborted) throw interrupted();
      const { place, serialNumber } = row;
      if (!('device' in row)) {
        results.push({
          ...place,
          serialNumber,
          status: 'invalid',
          ...(row.field ? { field: row.field } : {}),
          message: row.problem,
        });
        continue;
      }
      const earlier = placeOf.get(row.device.serialNumber);
      if (earlier !== undefined)
        results.push({
          ...place,
          serialNumber,
          status: 'invalid',
          field: 'serialNumber',
          message: `the same serial number stands in ${placeWords(earlier)}`,
        });
      else {
        placeOf.set(row.device.serialNumber, place);
        results.push({ ...place, serialNumber, status: 'new', message: 'would be registered' });
      }
    }
    const registered = await registeredOf(registry, placeOf);
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
    file?.finish();
    if (!globals.json)
      out.notice(
        `Dry run: ${counts.new} new, ${counts.registered} registered already, ${counts.invalid} invalid. Nothing was changed.`,
      );
    return counts.invalid > 0 ? exitCodes.partial : exitCodes.done;
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
  serials: ReadonlyMap<string, Place>,
): Promise<ReadonlyMap<string, Registered>> {
  const found = new Map<string, Registered>();
  const { pagination } = await registry.call('listDevices', { query: { size: 1 } });
  if (serials.size < pagination.total / paging.maxSize) {
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
