/** Reads the files in a ZIP archive that is in memory, each with a bound on what it inflates to. */
import { InvalidInput } from './fault.ts';

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const MOST_ENTRIES = 10_000;
/** The record of the end is followed by a comment of at most 64 KiB. */
const END_LENGTH = 22 + 2 ** 16;
const deflated = 8;

interface ZipEntry {
  readonly method: number;
  readonly size: number;
  readonly offset: number;
}

const broken = (problem: string): InvalidInput => new InvalidInput({ what: 'workbook', problem });

/** The files by name. Throws `InvalidInput`. */
export function zipEntries(bytes: Uint8Array): ReadonlyMap<string, ZipEntry> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = bytes.length - 22;
  const first = Math.max(0, bytes.length - END_LENGTH);
  while (at >= first && view.getUint32(at, true) !== END) at--;
  if (at < first) throw broken('its end is missing: the file was not copied as a whole');
  const count = view.getUint16(at + 10, true);
  if (count > MOST_ENTRIES) throw broken(`it has more than ${MOST_ENTRIES} parts`);
  const entries = new Map<string, ZipEntry>();
  let next = view.getUint32(at + 16, true);
  for (let index = 0; index < count; index++) {
    if (next + 46 > bytes.length || view.getUint32(next, true) !== ENTRY) throw broken('its list of parts is damaged');
    const [name, extra, comment] = [28, 30, 32].map(field => view.getUint16(next + field, true)) as [
      number,
      number,
      number,
    ];
    entries.set(new TextDecoder().decode(bytes.subarray(next + 46, next + 46 + name)), {
      method: view.getUint16(next + 10, true),
      size: view.getUint32(next + 20, true),
      offset: view.getUint32(next + 42, true),
    });
    next += 46 + name + extra + comment;
  }
  return entries;
}

/** The text of a file in pieces. Throws `InvalidInput` after `most` bytes. */
export async function* zipText(
  bytes: Uint8Array,
  { method, size, offset }: ZipEntry,
  most: number,
): AsyncGenerator<string> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (offset + 30 > bytes.length) throw broken('a part of it is missing');
  const start = offset + 30 + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true);
  const content = bytes.subarray(start, start + size);
  const decoder = new TextDecoder();
  let length = 0;
  try {
    for await (const chunk of method === deflated ? inflated(content) : [content]) {
      length += chunk.length;
      if (length > most) throw broken(`a part of it has more than ${most / 2 ** 20} MiB: save the sheet as CSV`);
      yield decoder.decode(chunk, { stream: true });
    }
  } catch (error) {
    throw error instanceof InvalidInput ? error : broken('a part of it is damaged');
  }
}

/** Browsers and Node have this class; a reader of it waits for the next chunk, so a bomb fills no memory. */
async function* inflated(content: Uint8Array): AsyncGenerator<Uint8Array> {
  const stream = new Blob([content as Uint8Array<ArrayBuffer>])
    .stream()
    .pipeThrough(new DecompressionStream('deflate-raw'));
  const reader = stream.getReader();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
