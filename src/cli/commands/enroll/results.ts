/** The file that an enrolment adds its results to, and that a later run of it goes on from. */
import { appendFileSync, openSync, readFileSync, statSync } from 'node:fs';
import { systemWords, usage } from '../../fault.ts';
import { toCsv } from '../../terminal/csv.ts';
import { safeJson } from '../../terminal/text.ts';
import { readCsv } from '../import/csv.ts';
import type { Outcome } from './enroll-key.ts';

const fields = [
  'result',
  'deviceId',
  'serialNumber',
  'deviceType',
  'activationCode',
  'status',
  'userId',
  'manufacturer',
  'model',
  'firmwareVersion',
  'serialSource',
  'simulated',
  'message',
] as const satisfies readonly (keyof Outcome)[];

const header = toCsv(fields, [], true);

/** What is taken back out of a line. */
type Line = Partial<Record<'result' | 'deviceId' | 'serialNumber', unknown>>;

const done: readonly unknown[] = ['registered', 'known'] satisfies Outcome['result'][];

export class EnrollFile {
  readonly path: string;
  readonly #isRegular: boolean;
  /** A pipe is only written to, and stays open: whoever reads it would take its closing for the end. */
  readonly #target: string | number;

  /** Throws a fault where the file cannot be written, or holds something else: that is found out before the first key, not after it. */
  constructor(path: string) {
    this.path = path;
    const stat = this.#writing(() => statSync(path, { throwIfNoEntry: false }));
    this.#isRegular = stat?.isFile() ?? true;
    this.#target = this.#isRegular ? path : this.#writing(() => openSync(path, 'a'));
    const text = this.#isRegular && stat?.size ? this.#writing(() => readFileSync(path, 'utf8')) : '';
    if (this.#isCsv && text !== '' && !text.startsWith(header))
      throw usage(`${path} holds something else than results of enrolments`, 'name another file with --out');
    // A line that a crash has cut short is ended.
    this.#append(text === '' ? this.#header : text.endsWith('\n') ? '' : '\n');
  }

  /** A file that somebody has taken away meanwhile begins anew. */
  add(outcome: Outcome): void {
    const isNew = this.#isRegular && !statSync(this.path, { throwIfNoEntry: false })?.size;
    const line = this.#isCsv ? toCsv(fields, [outcome], false) : `${safeJson(outcome)}\n`;
    this.#append(isNew ? this.#header + line : line);
  }

  /** The keys that earlier runs have registered or recognised: deviceId by serial number. */
  async earlier(): Promise<Map<string, string>> {
    const keys = new Map<string, string>();
    if (!this.#isRegular) return keys;
    const text = readFileSync(this.path, 'utf8');
    for await (const { result, deviceId, serialNumber } of this.#isCsv ? csvLines(text) : jsonLines(text)) {
      if (typeof serialNumber === 'string' && typeof deviceId === 'string' && done.includes(result))
        keys.set(serialNumber, deviceId);
    }
    return keys;
  }

  get #isCsv(): boolean {
    return !/\.(jsonl|ndjson|json)$/i.test(this.path);
  }

  get #header(): string {
    return this.#isCsv ? header : '';
  }

  #append(text: string): void {
    this.#writing(() => appendFileSync(this.#target, text, { mode: 0o600 }));
  }

  #writing<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw usage(`results cannot be written to ${this.path}: ${systemWords(error)}`);
    }
  }
}

async function* csvLines(text: string): AsyncGenerator<Line> {
  let names: readonly string[] | null = null;
  for await (const record of readCsv(pieces(text))) {
    if (!('cells' in record)) continue;
    if (names === null) names = record.cells;
    else yield Object.fromEntries(names.map((name, i) => [name, record.cells[i]]));
  }
}

async function* pieces(text: string): AsyncGenerator<string> {
  yield text;
}

function* jsonLines(text: string): Generator<Line> {
  for (const line of text.split('\n')) {
    try {
      const value: unknown = JSON.parse(line);
      if (typeof value === 'object' && value !== null) yield value;
    } catch {
      // Empty, or cut short by a crash.
    }
  }
}
