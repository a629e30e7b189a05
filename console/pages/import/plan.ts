/** Reads a file and compares it with the registry. The page stays usable: the work is done in small parts. */
import { batchesOf } from '../../../src/enrollment/import/batches.ts';
import { type ExistingDevice, ImportPlan } from '../../../src/enrollment/import/plan.ts';
import type { LineResult } from '../../../src/enrollment/import/result.ts';
import type { Row } from '../../../src/enrollment/import/row.ts';
import { type DeviceReading, openDevices } from '../../../src/enrollment/import/rows.ts';
import type { DeviceField } from '../../../src/tables/fields.ts';
import type { Table } from '../../../src/tables/table.ts';
import type { Doubt } from '../../../src/tables/table-row.ts';
import { exportedDevices } from '../../api/export.ts';
import { inSlices, rest } from '../../parts/slices.ts';

/** Preview of an import. */
export interface CheckedFile {
  readonly rows: readonly Row[];
  /** One for each row. */
  readonly lines: readonly LineResult[];
  /** The devices of the registry that have serial numbers of the file. */
  readonly existing: ReadonlyMap<string, ExistingDevice>;
  /** Findings that a person should look at. */
  readonly doubts: readonly Doubt[];
}

/** The file is not in the encoding in which it was read. */
export class InvalidEncoding extends Error {
  readonly line: number;
  readonly encoding: string;
  constructor(line: number, encoding: string) {
    super(encoding);
    this.line = line;
    this.encoding = encoding;
  }
}

/** Bytes that are read at once. */
const PIECE = 2 ** 14;

/** The rows in batches of at most `size` that fit into one request. */
export async function batched(rows: readonly Row[], size: number): Promise<readonly (readonly Row[])[]> {
  const batches: (readonly Row[])[] = [];
  for await (const batch of batchesOf(inSlices(rows), size)) batches.push(batch);
  return batches;
}

/** The bytes of a file in pieces: the page gets its turn after each. */
export async function* bytesOf(file: File): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read())
    for (let at = 0; at < part.value.length; at += PIECE) {
      await rest();
      yield part.value.subarray(at, at + PIECE);
    }
}

/** Throws `InvalidEncoding` if bytes of the table are not valid in its encoding. */
export function checkEncoding({ invalidLine, shape }: Table<DeviceField>): void {
  if (invalidLine !== null) throw new InvalidEncoding(invalidLine, shape.encoding ?? 'utf-8');
}

/** Previews the import of a file. `onRead` gets the number of rows. Throws `InvalidInput`, `InvalidEncoding` and `Problem`. */
export async function checkFile(
  file: File,
  reading: DeviceReading,
  signal: AbortSignal,
  onRead: (count: number) => void,
): Promise<CheckedFile> {
  const plan = new ImportPlan(true);
  const rows: Row[] = [];
  const planned: LineResult[] = [];
  const { table, rows: read } = await openDevices(bytesOf(file), reading);
  for await (const row of read) {
    signal.throwIfAborted();
    checkEncoding(table);
    rows.push(row);
    planned.push(plan.add(row));
    if (rows.length % 1000 === 0) onRead(rows.length);
  }
  const existing = await existingDevices(plan.serials, signal);
  const lines: LineResult[] = [];
  for await (const line of inSlices(planned)) lines.push(plan.withDevice(line, existing));
  return { rows, lines, existing, doubts: table.doubts };
}

async function existingDevices(
  serials: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ExistingDevice>> {
  const found = new Map<string, ExistingDevice>();
  let read = 0;
  for await (const device of exportedDevices({}, signal)) {
    if (serials.has(device.serialNumber)) found.set(device.serialNumber, device);
    if (++read % 100 === 0) await rest();
  }
  return found;
}
