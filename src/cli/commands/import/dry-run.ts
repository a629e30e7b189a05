/** What a run would do, line by line, without doing it. */
import { paging } from '../../../contract/limits.ts';
import type { Client } from '../../client/client.ts';
import type { Context } from '../../context.ts';
import { exitCodes } from '../../exit-codes.ts';
import { interrupted } from '../../fault.ts';
import { allDevices } from '../devices/all-devices.ts';
import { findBySerial } from '../devices/find-device.ts';
import { invalidResult } from './batches.ts';
import { type Position, positionText } from './line-number.ts';
import type { LineResult, ResultFile, ResultWriter } from './results.ts';
import type { Input, Row } from './rows.ts';

/** Results that are written at once. */
const resultsPerWrite = 1_000;

type Counts = Record<'new' | 'registered' | 'invalid', number>;

interface Registered {
  readonly deviceId: string;
  readonly status: string;
}

/** Plans `register --file`: which rows are new, registered or invalid. Changes nothing on the server. */
export class DryRun {
  readonly #context: Context;
  readonly #writer: ResultWriter;
  readonly #file: ResultFile | null;
  /** Where each serial number first appears. */
  readonly #positions = new Map<string, Position>();
  readonly #counts: Counts = { new: 0, registered: 0, invalid: 0 };

  constructor(context: Context, writer: ResultWriter, file: ResultFile | null) {
    this.#context = context;
    this.#writer = writer;
    this.#file = file;
  }

  /** Writes one result per row. The exit code. */
  async run(input: Input): Promise<number> {
    try {
      const results: LineResult[] = [];
      for await (const row of input.rows) {
        if (this.#context.io.interrupt.aborted) throw interrupted();
        results.push(this.#judge(row));
      }
      await this.#write(results, await registeredOf(this.#context.registry, this.#positions));
    } finally {
      this.#file?.close();
    }
    const { new: fresh, registered, invalid } = this.#counts;
    if (!this.#context.globals.json)
      this.#context.out.notice(
        `Dry run: ${fresh} new, ${registered} already registered, ${invalid} invalid. Nothing was changed.`,
      );
    return invalid > 0 ? exitCodes.partial : exitCodes.done;
  }

  #judge(row: Row): LineResult {
    if (!('device' in row)) return invalidResult(row, 'invalid');
    const first = this.#positions.get(row.device.serialNumber);
    if (first !== undefined)
      return invalidResult(
        { ...row, field: 'serialNumber', problem: `duplicate of ${positionText(first)}` },
        'invalid',
      );
    this.#positions.set(row.device.serialNumber, row.position);
    return { ...row.position, serialNumber: row.serialNumber, status: 'new', message: 'would be registered' };
  }

  async #write(results: readonly LineResult[], registered: ReadonlyMap<string, Registered>): Promise<void> {
    for (let start = 0; start < results.length; start += resultsPerWrite) {
      const part = results.slice(start, start + resultsPerWrite).map(result => withDevice(result, registered));
      for (const { status } of part) this.#counts[status as keyof Counts]++;
      this.#file?.write(part);
      await this.#writer.write(part);
    }
    this.#file?.finish();
  }
}

function withDevice(result: LineResult, registered: ReadonlyMap<string, Registered>): LineResult {
  const device = result.status === 'new' ? registered.get(result.serialNumber ?? '') : undefined;
  if (!device) return result;
  const message = `already exists: ${device.deviceId} (${device.status})`;
  return { ...result, status: 'registered', deviceId: device.deviceId, message };
}

/** The devices that have one of the serial numbers. Reads the whole list if that takes fewer requests than one per serial. */
async function registeredOf(
  registry: Client,
  serials: ReadonlyMap<string, Position>,
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
