/** The file named by `--out`: one result per item, as JSON lines or CSV, which a later run can read and continue. */
import {
  closeSync,
  createReadStream,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { readCsv } from '../../tables/csv.ts';
import { eachLine, TooLong } from '../../tables/text.ts';
import { type Fault, failure, notWritten, systemWords, usage } from '../fault.ts';
import { demandOwnFile } from '../settings/files.ts';
import { toCsv } from '../terminal/csv.ts';
import { safeJson } from '../terminal/text.ts';

/** Bytes. */
const maxLine = 64 * 1024;

/** The file of results that a run writes. */
export class ResultFile<Result extends object> {
  readonly #name: string;
  readonly #fields: (results: readonly Result[]) => readonly string[];
  readonly #fd: number;
  readonly #asCsv: boolean;
  /** A pipe or a terminal has no offsets and is not synced. */
  readonly #isRegular: boolean;
  #header: boolean;
  #size: number;

  /** Continues after the first `size` bytes of an earlier run; 0 starts over. `fields` are the columns of the CSV. */
  constructor(name: string, asJson: boolean, size: number, fields: (results: readonly Result[]) => readonly string[]) {
    this.#name = name;
    this.#fields = fields;
    this.#asCsv =
      size > 0 ? isCsvFile(name) : /\.csv$/i.test(name) || (!asJson && !/\.(jsonl|ndjson|json)$/i.test(name));
    this.#size = size;
    demandOwnFile(name, 'name another file with --out');
    try {
      // The results hold activation codes.
      this.#fd = openSync(name, size > 0 ? 'r+' : 'w', 0o600);
      this.#isRegular = fstatSync(this.#fd).isFile();
      if (size > 0) ftruncateSync(this.#fd, size);
    } catch (error) {
      throw notWritten(`results cannot be written to ${name}`, error);
    }
    this.#header = this.#asCsv && size === 0;
  }

  /** Bytes written, earlier runs included. */
  get size(): number {
    return this.#size;
  }

  /** Returns when the results are on the disk. A partial write does not count. */
  write(results: readonly Result[]): void {
    const text = this.#asCsv
      ? toCsv(this.#fields(results), results, this.#header)
      : results.map(result => `${safeJson(result)}\n`).join('');
    const bytes = Buffer.from(text);
    try {
      for (let done = 0; done < bytes.length; )
        done += writeSync(this.#fd, bytes, done, bytes.length - done, this.#isRegular ? this.#size + done : null);
      if (this.#isRegular) fsyncSync(this.#fd);
    } catch (error) {
      throw failure(`results cannot be written to ${this.#name}: ${systemWords(error)}`);
    }
    this.#size += bytes.length;
    this.#header = false;
  }

  /** Writes the header if there were no results. */
  finish(): void {
    if (this.#header) this.write([]);
  }

  close(): void {
    closeSync(this.#fd);
  }
}

/** Whether the results in the file are CSV; otherwise they are JSON lines. */
const isCsvFile = (file: string): boolean => tailOf(file, 1, 1).toString() !== '{';

/** Bytes of the file up to the end of its last complete line. */
export function wholeBytes(file: string): number {
  const { size } = statSync(file);
  const tail = tailOf(file, size, maxLine);
  return size - tail.length + tail.lastIndexOf('\n') + 1;
}

/** The records in the first `bytes` bytes of a CSV or JSON lines file. Throws `foreign` of the file if it is neither. */
export async function* readRecords(
  file: string,
  bytes: number,
  foreign: (file: string) => Fault,
): AsyncGenerator<Readonly<Record<string, unknown>>> {
  if (bytes === 0) return;
  const text = createReadStream(file, { encoding: 'utf8', end: bytes - 1 });
  try {
    if (isCsvFile(file)) yield* fromCsv(file, text, foreign);
    else for await (const line of eachLine(text)) yield JSON.parse(line.text);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TooLong) throw foreign(file);
    if (error instanceof Error && 'syscall' in error)
      throw usage(`the results in ${file} cannot be read: ${systemWords(error)}`);
    throw error;
  }
}

async function* fromCsv(
  file: string,
  text: AsyncIterable<string>,
  foreign: (file: string) => Fault,
): AsyncGenerator<Readonly<Record<string, unknown>>> {
  let header: readonly string[] | null = null;
  for await (const record of readCsv(text)) {
    if ('problem' in record) throw foreign(file);
    if (header === null) header = record.cells;
    else yield Object.fromEntries(header.map((name, index) => [name, record.cells[index]]));
  }
}

/** At most `length` bytes before `end`. */
export function tailOf(file: string, end: number, length: number): Buffer {
  const bytes = Buffer.alloc(Math.min(end, length));
  const fd = openSync(file, 'r');
  try {
    return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, end - bytes.length));
  } finally {
    closeSync(fd);
  }
}
