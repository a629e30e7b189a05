/** The file with the results of an enrollment; a later run continues it. */
import { appendFileSync, appendFile as appendFileWithCallback, openSync, readFileSync, statSync } from 'node:fs';
import { stat, truncate } from 'node:fs/promises';
import { promisify } from 'node:util';
import { tagColumn } from '../../../../contract/values.ts';
import type { EnrollKeyOptions } from '../../../../enrollment/key-enrollment.ts';
import { type EnrollmentOutcome, providerColumn } from '../../../../enrollment/outcome.ts';
import { Fault, notWritten, systemCode, usage } from '../../../fault.ts';
import type { Context } from '../../../framework/context.ts';
import { AppendQueue } from '../../../jobs/append-queue.ts';
import {
  checkColumn,
  checkOf,
  failureColumn,
  fields,
  isHeader,
  isIssuedAt,
  nameColumn,
  proofColumn,
  type ResultRow,
  receiptColumn,
  resultRows,
} from '../../../jobs/result-rows.ts';
import { lockRunIfPossible } from '../../../jobs/run-lock.ts';
import { cutTail } from '../../../jobs/torn-tail.ts';
import type { FileLock } from '../../../settings/file-lock.ts';
import { demandOwnFile } from '../../../settings/files.ts';
import { toCsv } from '../../../terminal/csv.ts';
import { safe, safeJson } from '../../../terminal/text.ts';

/** Takes a descriptor as well as a name. */
const appendFile = promisify(appendFileWithCallback);

const headerOf = (columns: readonly string[]): string => toCsv(columns, [], true);

/** A key that an earlier run has bound to a person. */
export interface BoundKey {
  readonly userId: string;
  readonly serialNumber: string;
  readonly deviceType: unknown;
}

/** The content of the rows of a file. */
export interface FileOptions extends Pick<EnrollKeyOptions, 'proof' | 'tags'> {
  /** Each row is for a person, and is on the disk before the next key. */
  readonly isRoster?: boolean;
  /** Names of the providers at which keys are issued: a key is done when it signs in at each. */
  readonly providers?: readonly string[];
  /** Whether keys sign receipts: a key is done when its receipt is stored. */
  readonly hasReceipts?: boolean;
  /** Rows are of a spool file: each is on the disk before its key counts as delivered. */
  readonly isSpooled?: boolean;
}

/** Bytes. An incomplete row is shorter. */
const longestTail = 2 ** 20;

const done: readonly unknown[] = ['registered', 'known'] satisfies EnrollmentOutcome['result'][];
/** Whether the registry has the key of a row with this result. */
export const isDone = (result: unknown): boolean => done.includes(result);
/** A key that was spooled was not registered. */
const undone: readonly unknown[] = ['conflict', 'failed'] satisfies EnrollmentOutcome['result'][];

/** A file as it was found. */
interface Layout {
  /** The columns of CSV: those that it has already, or gets. */
  readonly columns: readonly string[];
  /** Whether nothing is in it but the beginning of a header. */
  readonly isNew: boolean;
  /** Bytes of the complete rows. */
  readonly size: number;
}

/** The file of results: CSV, or JSON lines if its name ends in .jsonl, .ndjson or .json. */
export class EnrollFile {
  /** The notice of an incomplete last row of an earlier run; null if there was none. */
  tornNotice: string | null = null;
  readonly path: string;
  /** Whether an earlier run may have written rows. */
  readonly isContinued: boolean;
  readonly #options: FileOptions;
  readonly #columns: readonly string[];
  /** A pipe is only written, and stays open: its reader would take a close for the end. */
  readonly #pipe: number | null;
  /** Null for a pipe, and in a folder that is not writable. */
  readonly #lock: FileLock | null;
  readonly #queue = new AppendQueue(text => this.#write(text));

  private constructor(path: string, options: FileOptions, layout: Layout, pipe: number | null, lock: FileLock | null) {
    this.path = path;
    this.isContinued = !layout.isNew;
    this.#options = options;
    this.#columns = layout.columns;
    this.#pipe = pipe;
    this.#lock = lock;
  }

  /** Opens the file for one run, until `close`. Throws a fault if another run uses it, or as `unlocked` does. */
  static open(context: Context, path: string, options: FileOptions): EnrollFile {
    const isRegular = statSync(path, { throwIfNoEntry: false })?.isFile() ?? true;
    const hint = 'wait until it ends, or name another file with --out';
    const lock = isRegular ? lockRunIfPossible({ file: path, hint }) : null;
    try {
      const file = EnrollFile.unlocked(path, options, lock);
      if (file.tornNotice) context.out.notice(safe(file.tornNotice));
      return file;
    } catch (error) {
      lock?.release();
      throw error;
    }
  }

  /** Throws a fault if the file cannot be written or contains something else, so that this is known before the first key. */
  static unlocked(path: string, options: FileOptions, lock: FileLock | null = null): EnrollFile {
    demandOwnFile(path, 'name another file with --out');
    return writing(path, () => {
      const bytes = bytesOf(path);
      const layout = layoutOf(path, bytes ?? Buffer.alloc(0), options);
      const file = new EnrollFile(path, options, layout, bytes === null ? openSync(path, 'a') : null, lock);
      const tail = bytes?.subarray(layout.size);
      if (tail?.length) {
        const copy = cutTail(path, tail, layout.size);
        file.tornNotice = `the last row of ${path} was incomplete: it was removed and does not count. A copy is in ${copy}`;
      }
      appendFileSync(file.#pipe ?? path, layout.isNew ? file.#header : '', file.#writing);
      return file;
    });
  }

  /** How rows are written; those of some runs are on the disk at once. */
  get #writing(): { readonly mode: number; readonly flush: boolean } {
    const { isRoster = false, isSpooled = false } = this.#options;
    return { mode: 0o600, flush: (isRoster || isSpooled) && this.#pipe === null };
  }

  /** Resolves when the row is on the disk, if its file is synced. Starts a new file if the file was deleted since the last write. */
  async add(outcome: EnrollmentOutcome): Promise<void> {
    try {
      await this.#queue.append(this.isCsv ? this.#csvRow(outcome) : `${safeJson(outcome)}\n`);
    } catch (error) {
      throw unwritable(this.path, error);
    }
  }

  /** Each line feed of the file ends a row. */
  #csvRow(outcome: EnrollmentOutcome): string {
    const values: Readonly<Record<string, unknown>> = { ...cellsOf(outcome) };
    const names = this.#columns.filter(name => name !== checkColumn);
    const cells = names.map(name => safe(String(values[name] ?? '').replace(/[\r\n]+/g, ' ')));
    const row = Object.fromEntries(names.map((name, at) => [name, cells[at]]));
    return toCsv(this.#columns, [{ ...row, [checkColumn]: checkOf(cells) }], false);
  }

  /** The keys that earlier runs registered, recognized or spooled: deviceId by serial number, null while it is spooled. */
  async earlier(): Promise<Map<string, string | null>> {
    const keys = new Map<string, string | null>();
    for await (const { result, deviceId, serialNumber } of this.#lines()) {
      if (typeof serialNumber !== 'string') continue;
      if (isDone(result) && typeof deviceId === 'string') keys.set(serialNumber, deviceId);
      else if (result === 'spooled' && !keys.has(serialNumber)) keys.set(serialNumber, null);
      else if (undone.includes(result) && keys.get(serialNumber) === null) keys.delete(serialNumber);
    }
    return keys;
  }

  /** The keys that earlier runs bound to people or spooled for them, each once. */
  async bound(): Promise<readonly BoundKey[]> {
    const keys = new Map<string, BoundKey>();
    const spooled = new Set<BoundKey>();
    for await (const { result, status, userId, serialNumber, deviceType } of this.#lines()) {
      if (typeof userId !== 'string' || typeof serialNumber !== 'string') continue;
      const key = { userId, serialNumber, deviceType };
      const before = keys.get(serialNumber);
      if (isDone(result) && status === 'ACTIVE') keys.set(serialNumber, key);
      else if (result === 'spooled' && before === undefined) {
        keys.set(serialNumber, key);
        spooled.add(key);
      } else if (undone.includes(result) && before?.userId === userId && spooled.has(before)) keys.delete(serialNumber);
    }
    return [...keys.values()];
  }

  async *#lines(): AsyncGenerator<ResultRow> {
    if (this.#pipe !== null) return;
    const { providers = [], hasReceipts = false } = this.#options;
    for await (const row of resultRows(this.path, () => undefined))
      if (isIssuedAt(row, providers) && (!hasReceipts || row[receiptColumn])) yield row;
  }

  /** Another run can use the file. */
  close(): void {
    this.#lock?.release();
  }

  /** Whether the rows are CSV; else they are JSON lines. */
  get isCsv(): boolean {
    return isCsvFile(this.path);
  }

  get #header(): string {
    return this.isCsv ? headerOf(this.#columns) : '';
  }

  async #write(text: string): Promise<void> {
    if (this.#pipe !== null) return appendFile(this.#pipe, text);
    const { size } = await stat(this.path).catch(error => {
      if (systemCode(error) === 'ENOENT') return { size: 0 };
      throw error;
    });
    try {
      await appendFile(this.path, size === 0 ? this.#header + text : text, this.#writing);
    } catch (error) {
      // A part of a row must not be the beginning of the next one.
      await truncate(this.path, size).catch(() => undefined);
      throw error;
    }
  }
}

const unwritable = (path: string, error: unknown): Error => notWritten(`results cannot be written to ${path}`, error);

/** A fault is of what the file contains. */
function writing<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof Fault ? error : unwritable(path, error);
  }
}

const isCsvFile = (path: string): boolean => !/\.(jsonl|ndjson|json)$/i.test(path);

/** Null for a pipe. */
function bytesOf(path: string): Buffer | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return Buffer.alloc(0);
  return stat.isFile() ? readFileSync(path) : null;
}

/** Throws a usage fault if this is another file, or one without a column that is wanted. */
function layoutOf(path: string, bytes: Buffer, options: FileOptions): Layout {
  const size = bytes.lastIndexOf('\n') + 1;
  const isNew = size === 0 && isTornStart(path, bytes.toString());
  const known = isNew ? null : columnsIn(bytes.toString('utf8', 0, size));
  if ((isCsvFile(path) && !isNew && known === null) || bytes.length - size > longestTail)
    throw usage(`${path} does not contain results of an enrollment`, 'name another file');
  const { proof, isRoster = false } = options;
  const wanted = wantedColumns(options);
  const more = isRoster ? [...wanted, failureColumn] : wanted;
  const columns = known ?? [...fields, ...(proof === null ? [] : [proofColumn]), ...more, checkColumn];
  const missing = isCsvFile(path) ? wanted.find(column => !columns.includes(column)) : undefined;
  if (missing !== undefined) throw usage(`${path} has no column ${missing}`, 'name another file with --out');
  return { columns, isNew, size };
}

const wantedColumns = ({ tags, isRoster, providers = [], hasReceipts }: FileOptions): readonly string[] => [
  ...(isRoster ? [nameColumn] : []),
  ...Object.keys(tags ?? {}).map(name => tagColumn + name),
  ...providers.map(name => providerColumn + name),
  ...(hasReceipts ? [receiptColumn] : []),
];

/** Whether a text without a line feed is nothing, or the beginning of what is written first. */
function isTornStart(path: string, text: string): boolean {
  const [start] = isCsvFile(path) ? headerOf(fields).split('\n') : ['{"result":'];
  return text.startsWith(start!) || start!.startsWith(text);
}

function cellsOf({ tags, proof, providers, ...outcome }: EnrollmentOutcome): object {
  const cells = [
    ...Object.entries(tags ?? {}).map(([name, value]) => [tagColumn + name, value]),
    ...Object.entries(providers ?? {}).map(([name, value]) => [providerColumn + name, value]),
  ];
  return { ...outcome, [proofColumn]: proof?.grade ?? null, ...Object.fromEntries(cells) };
}

/** The columns of a file of results; null if it is another file. */
function columnsIn(text: string): readonly string[] | null {
  const header = text.slice(0, text.indexOf('\n') + 1);
  const columns = header.trimEnd().split(',');
  return isHeader(columns) && headerOf(columns) === header ? columns : null;
}
