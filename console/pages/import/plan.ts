/** Reads a file and compares it with the registry. The page stays usable: the work is done in small parts. */
import { TextFileDecoder } from '../../../src/contract/text-file.ts';
import { batchesOf } from '../../../src/enrollment/import/batches.ts';
import { DroppedSecrets } from '../../../src/enrollment/import/columns.ts';
import type { ReadOptions } from '../../../src/enrollment/import/csv-rows.ts';
import { type ExistingDevice, ImportPlan } from '../../../src/enrollment/import/plan.ts';
import type { LineResult } from '../../../src/enrollment/import/result.ts';
import type { Row } from '../../../src/enrollment/import/row.ts';
import { rowsOf } from '../../../src/enrollment/import/rows.ts';
import { exportedDevices } from '../../api/export.ts';
import { inSlices, rest } from '../../parts/slices.ts';

/** Preview of an import. */
export interface CheckedFile {
  readonly rows: readonly Row[];
  /** One for each row. */
  readonly lines: readonly LineResult[];
  /** The devices of the registry that have serial numbers of the file. */
  readonly existing: ReadonlyMap<string, ExistingDevice>;
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

/** UTF-16 units that are read at once. */
const PIECE = 2 ** 14;

/** The rows in batches of at most `size` that fit into one request. */
export async function batched(rows: readonly Row[], size: number): Promise<readonly (readonly Row[])[]> {
  const batches: (readonly Row[])[] = [];
  for await (const batch of batchesOf(inSlices(rows), size)) batches.push(batch);
  return batches;
}

/** The text of a file in pieces. Throws `InvalidEncoding`. */
export async function* textOf(file: File, encoding: string | null): AsyncGenerator<string> {
  const decoder = new TextFileDecoder(encoding);
  const reader = file.stream().getReader();
  const checked = (text: string) => {
    if (decoder.invalidLine !== null) throw new InvalidEncoding(decoder.invalidLine, decoder.encoding);
    return text;
  };
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const text = checked(decoder.decode(part.value));
    for (let at = 0; at < text.length; at += PIECE) {
      await rest();
      yield text.slice(at, at + PIECE);
    }
  }
  yield checked(decoder.end());
}

/** Previews the import of the text of a file. `onRead` gets the number of rows. Throws `InvalidInput`, `InvalidEncoding` and `Problem`. */
export async function checkText(
  text: AsyncGenerator<string>,
  { file, mapping, defaults, asIs }: Pick<ReadOptions, 'mapping' | 'defaults' | 'asIs'> & { readonly file: string },
  signal: AbortSignal,
  onRead: (count: number) => void,
): Promise<CheckedFile> {
  const plan = new ImportPlan(true);
  const rows: Row[] = [];
  const planned: LineResult[] = [];
  const read = {
    mapping,
    defaults: { ...mapping.defaults, ...defaults },
    dropped: new DroppedSecrets(),
    asIs: asIs ?? false,
  };
  for await (const row of rowsOf(text, { file, format: null }, read)) {
    signal.throwIfAborted();
    rows.push(row);
    planned.push(plan.add(row));
    if (rows.length % 1000 === 0) onRead(rows.length);
  }
  const existing = await existingDevices(plan.serials, signal);
  const lines: LineResult[] = [];
  for await (const line of inSlices(planned)) lines.push(plan.withDevice(line, existing));
  return { rows, lines, existing };
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
