/** The file with the results of an enrollment; a later run continues it. */
import { appendFileSync, createReadStream, openSync, readFileSync, statSync } from 'node:fs';
import { tagColumn } from '../../../../contract/values.ts';
import { systemWords, usage } from '../../../framework/fault.ts';
import { toCsv } from '../../../terminal/csv.ts';
import { safeJson } from '../../../terminal/text.ts';
import type { EnrolledKey, EnrollKeyOptions } from './enroll-key.ts';
import { failureColumn, fields, isHeader, nameColumn, proofColumn, type ResultRow, rowsOf } from './result-rows.ts';

const headerOf = (columns: readonly string[]): string => toCsv(columns, [], true);

/** A key that an earlier run has bound to a person. */
export interface BoundKey {
  readonly userId: string;
  readonly serialNumber: string;
  readonly deviceType: unknown;
}

/** What the rows of a file have. */
interface FileOptions extends Pick<EnrollKeyOptions, 'proof' | 'tags'> {
  /** Each row is for a person, and is on the disk before the next key. */
  readonly isRoster?: boolean;
  /** Rows are of a spool file: each is on the disk before its key counts as delivered. */
  readonly isSpooled?: boolean;
}

const done: readonly unknown[] = ['registered', 'known'] satisfies EnrolledKey['result'][];
/** A key that was spooled was not registered. */
const undone: readonly unknown[] = ['conflict', 'failed'] satisfies EnrolledKey['result'][];

/** The file of results: CSV, or JSON lines if its name ends in .jsonl, .ndjson or .json. */
export class EnrollFile {
  readonly path: string;
  readonly #isRegular: boolean;
  /** Whether each row is written to the disk at once. */
  readonly #isFlushed: boolean;
  /** A pipe is only written, and stays open: its reader would take a close for the end. */
  readonly #target: string | number;

  /** The columns of CSV: those that the file has already. */
  readonly #columns: readonly string[];

  /** Throws a fault if the file cannot be written or contains something else, so that this is known before the first key. */
  constructor(path: string, { proof, tags, isRoster = false, isSpooled = false }: FileOptions) {
    this.path = path;
    const stat = this.#writing(() => statSync(path, { throwIfNoEntry: false }));
    this.#isRegular = stat?.isFile() ?? true;
    this.#isFlushed = (isRoster || isSpooled) && this.#isRegular;
    this.#target = this.#isRegular ? path : this.#writing(() => openSync(path, 'a'));
    const text = this.#isRegular && stat?.size ? this.#writing(() => readFileSync(path, 'utf8')) : '';
    const wanted = [...(isRoster ? [nameColumn] : []), ...Object.keys(tags ?? {}).map(name => tagColumn + name)];
    const known = text === '' ? null : columnsIn(text);
    const more = isRoster ? [...wanted, failureColumn] : wanted;
    this.#columns = known ?? [...fields, ...(proof === null ? [] : [proofColumn]), ...more];
    if (this.isCsv && text !== '' && known === null)
      throw usage(`${path} does not contain results of an enrollment`, 'name another file with --out');
    const missing = this.isCsv ? wanted.find(column => !this.#columns.includes(column)) : undefined;
    if (missing !== undefined) throw usage(`${path} has no column ${missing}`, 'name another file with --out');
    // After a crash the last line may be incomplete: the next result starts on a new line.
    this.#append(text === '' ? this.#header : text.endsWith('\n') ? '' : '\n');
  }

  /** Starts a new file if the file was deleted meanwhile. */
  add(outcome: EnrolledKey): void {
    const isNew = this.#isRegular && !statSync(this.path, { throwIfNoEntry: false })?.size;
    const line = this.isCsv ? toCsv(this.#columns, [cellsOf(outcome)], false) : `${safeJson(outcome)}\n`;
    this.#append(isNew ? this.#header + line : line);
  }

  /** The keys that earlier runs registered, recognized or spooled: deviceId by serial number, null while it is spooled. */
  async earlier(): Promise<Map<string, string | null>> {
    const keys = new Map<string, string | null>();
    for await (const { result, deviceId, serialNumber } of this.#lines()) {
      if (typeof serialNumber !== 'string') continue;
      if (done.includes(result) && typeof deviceId === 'string') keys.set(serialNumber, deviceId);
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
      if (done.includes(result) && status === 'ACTIVE') keys.set(serialNumber, key);
      else if (result === 'spooled' && before === undefined) {
        keys.set(serialNumber, key);
        spooled.add(key);
      } else if (undone.includes(result) && before?.userId === userId && spooled.has(before)) keys.delete(serialNumber);
    }
    return [...keys.values()];
  }

  async *#lines(): AsyncGenerator<ResultRow> {
    if (!this.#isRegular) return;
    yield* rowsOf(this.path, createReadStream(this.path, 'utf8'), !this.isCsv);
  }

  /** Whether the rows are CSV; else they are JSON lines. */
  get isCsv(): boolean {
    return !/\.(jsonl|ndjson|json)$/i.test(this.path);
  }

  get #header(): string {
    return this.isCsv ? headerOf(this.#columns) : '';
  }

  #append(text: string): void {
    this.#writing(() => appendFileSync(this.#target, text, { mode: 0o600, flush: this.#isFlushed }));
  }

  #writing<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw usage(`results cannot be written to ${this.path}: ${systemWords(error)}`);
    }
  }
}

function cellsOf({ tags, proof, ...outcome }: EnrolledKey): object {
  const cells = Object.entries(tags ?? {}).map(([name, value]) => [tagColumn + name, value]);
  return { ...outcome, [proofColumn]: proof?.grade ?? null, ...Object.fromEntries(cells) };
}

/** The columns of a file of results; null if it is another file. */
function columnsIn(text: string): readonly string[] | null {
  const header = text.slice(0, text.indexOf('\n') + 1);
  const columns = header.trimEnd().split(',');
  return isHeader(columns) && headerOf(columns) === header ? columns : null;
}
