/** The file that an enrolment adds its results to, and that a later run of it goes on from. */
import { appendFileSync, readFileSync, statSync } from 'node:fs';
import { systemWords, usage } from '../fault.ts';
import { toCsv } from '../terminal/csv.ts';
import { safeJson } from '../terminal/text.ts';
import { readCsv } from './bulk/csv.ts';
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

/** What is taken back out of a line. */
type Line = Partial<Record<'result' | 'deviceId' | 'serialNumber', unknown>>;

const done: readonly unknown[] = ['registered', 'known'] satisfies Outcome['result'][];

export class EnrollFile {
  readonly path: string;

  /** Throws a fault where the file cannot be written: that is found out before the first key, not after it. */
  constructor(path: string) {
    this.path = path;
    this.#append('');
  }

  add(outcome: Outcome): void {
    this.#append(this.#isCsv ? toCsv(fields, [outcome], false) : `${safeJson(outcome)}\n`);
  }

  /** The keys that earlier runs have registered or recognised: deviceId by serial number. */
  async earlier(): Promise<Map<string, string>> {
    const text = readFileSync(this.path, 'utf8');
    const keys = new Map<string, string>();
    for await (const { result, deviceId, serialNumber } of this.#isCsv ? csvLines(text) : jsonLines(text)) {
      if (typeof serialNumber === 'string' && typeof deviceId === 'string' && done.includes(result))
        keys.set(serialNumber, deviceId);
    }
    return keys;
  }

  get #isCsv(): boolean {
    return !/\.(jsonl|ndjson|json)$/i.test(this.path);
  }

  /** A file that is new gets its header; a line that a crash has cut short is ended. */
  #append(text: string): void {
    try {
      const isNew = !statSync(this.path, { throwIfNoEntry: false })?.size;
      const cut = !isNew && text === '' && !readFileSync(this.path, 'utf8').endsWith('\n');
      const before = isNew && this.#isCsv ? toCsv(fields, [], true) : cut ? '\n' : '';
      appendFileSync(this.path, before + text, { mode: 0o600 });
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
