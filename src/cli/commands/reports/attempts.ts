/** Counts from the results of an enrollment: also about keys that are not in the registry, because they failed. */
import { isTagName } from '../../../contract/tags.ts';
import { tagColumn } from '../../../contract/values.ts';
import { type ResultRow, resultRows } from '../../jobs/result-rows.ts';

/** Attempts to enroll a key. */
export interface Attempts {
  /** Rows of the files. */
  readonly attempts: number;
  readonly failedAttempts: number;
  /** Why attempts failed; the most frequent first. */
  readonly reasons: readonly { readonly reason: string; readonly count: number }[];
  /** Keys that passed in an attempt, and the others. A key without a readable serial number counts at each attempt. */
  readonly keys: { readonly passed: number; readonly failed: number };
  /** Percent of the keys that passed; null without a key. */
  readonly yield: number | null;
}

/** Different reasons that are counted; others are counted together. */
const mostReasons = 50;
const otherReasons = 'other reasons';
const longestReason = 100;

/**
 * Counts the rows of files that `enroll --out` has written, without rows with other values of these tags. `onTorn` gets a file with rows
 * that are incomplete or changed, and their number. Throws a usage fault.
 */
export async function attemptsOf(
  files: readonly string[],
  tags: Readonly<Record<string, string>>,
  onTorn: (file: string, rows: number) => void,
): Promise<Attempts | null> {
  if (files.length === 0) return null;
  const counts = new AttemptCounts();
  for (const file of files) {
    let torn = 0;
    for await (const row of resultRows(file, () => torn++)) if (isOf(row, tags) && !isOpen(row)) counts.take(row);
    if (torn > 0) onTorn(file, torn);
  }
  return counts.attempts;
}

/** Another row has the result: of the run after `--dry-run`, or of the delivery of a spooled key. */
const isOpen = ({ result }: ResultRow): boolean => result === 'new' || result === 'spooled';

function isOf(row: ResultRow, tags: Readonly<Record<string, string>>): boolean {
  return Object.entries(tags).every(([name, value]) => {
    const given = isTagName(name) ? (row.tags?.[name] ?? row[`${tagColumn}${name}`]) : undefined;
    return given === undefined || given === '' || given === value;
  });
}

/** A copy of the text. A cell of CSV is a slice of the text around it, which V8 keeps in memory as long as the slice. */
const detached = (text: string): string => Buffer.from(text).toString();

class AttemptCounts {
  /** By serial number: whether an attempt has passed. */
  readonly #keys = new Map<string, boolean>();
  readonly #reasons = new Map<string, number>();
  #attempts = 0;
  #failed = 0;
  #unreadable = 0;

  take(row: ResultRow): void {
    const isFailed = row.result === 'failed' || row.result === 'conflict';
    this.#attempts++;
    if (row.serialNumber) this.#takeKey(String(row.serialNumber), !isFailed);
    else this.#unreadable++;
    if (!isFailed) return;
    this.#failed++;
    const reason = reasonOf(row);
    const counted = this.#reasons.has(reason) || this.#reasons.size < mostReasons ? reason : otherReasons;
    this.#reasons.set(counted, (this.#reasons.get(counted) ?? 0) + 1);
  }

  /** A bound key fails if it is inserted again: it has passed all the same. */
  #takeKey(serialNumber: string, hasPassed: boolean): void {
    if (!this.#keys.get(serialNumber)) this.#keys.set(detached(serialNumber), hasPassed);
  }

  get attempts(): Attempts {
    const passed = [...this.#keys.values()].filter(Boolean).length;
    const failed = this.#keys.size - passed + this.#unreadable;
    return {
      attempts: this.#attempts,
      failedAttempts: this.#failed,
      reasons: [...this.#reasons].map(([reason, count]) => ({ reason, count })).sort((a, b) => b.count - a.count),
      keys: { passed, failed },
      yield: passed + failed === 0 ? null : Math.floor((1000 * passed) / (passed + failed)) / 10,
    };
  }
}

/** The few words that the run has written; else the first sentence of the message. */
function reasonOf({ result, failure, serialNumber, message }: ResultRow): string {
  if (result === 'conflict') return 'already registered';
  if (typeof failure === 'string' && failure !== '') return failure.slice(0, longestReason);
  if (!serialNumber) return 'serial number unreadable';
  const [sentence = ''] = typeof message === 'string' ? message.split('. ') : [];
  return sentence.slice(0, longestReason) || 'no reason is given';
}
