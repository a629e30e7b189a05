/** Reads under the lock what a group of commits needs: separate statements, because each sees what was committed before it began. */
import type { Commit, ResponseExpire } from '../commit.ts';
import type { Subjects } from '../subjects.ts';
import { type Field, keyOf, type Lookup, type LookupKey } from '../table.ts';
import { needsOf } from '../write/apply.ts';
import { type AnyLookup, type Source, WantedRows } from '../write/source.ts';
import type { DatabaseSession } from './session.ts';
import { selectAll, toRecord } from './tables.ts';

const expiredIds = 'SELECT id FROM response WHERE expires_at <= $1 OR expires_at > $2 ORDER BY number LIMIT $3';

/** The reads of one transaction. */
export class TransactionReads implements Source {
  readonly #session: DatabaseSession;
  readonly #subjects: Subjects;
  readonly #wanted = new WantedRows();
  readonly #answers: Promise<unknown>[] = [];
  readonly #rows = new Map<AnyLookup, Map<LookupKey, unknown[]>>();
  readonly #expired = new Map<ResponseExpire, readonly string[]>();

  constructor(session: DatabaseSession, subjects: Subjects) {
    this.#session = session;
    this.#subjects = subjects;
  }

  /** Sends the reads for these commits at once, except those that were sent before. */
  send(commits: readonly Commit[]): void {
    const wanted = needsOf(this.#subjects, commits);
    wanted.leaveOut(this.#wanted);
    const reads = Array.from(wanted.keys, ([lookup, keys]) =>
      keys.size > 0 ? this.#load(lookup, [...keys]) : undefined,
    );
    const answer = Promise.all([...reads, ...wanted.expiries.map(change => this.#loadExpired(change))]);
    // The promise is awaited later; until then, its rejection must not end the process.
    answer.catch(() => {});
    this.#answers.push(answer);
  }

  /** Resolves when all reads are answered. Rejects if one of them fails. */
  async answered(): Promise<void> {
    await Promise.all(this.#answers);
  }

  find<R extends object, S extends Field<R>>(lookup: Lookup<R, S>, key: LookupKey): readonly Pick<R, S>[] {
    if (!this.#wanted.has(lookup, key)) throw new Error(`${lookup.table.name} ${lookup.by} was not read beforehand`);
    return (this.#rows.get(lookup)?.get(key) ?? []) as Pick<R, S>[];
  }

  expired(change: ResponseExpire): readonly string[] {
    return this.#expired.get(change) ?? [];
  }

  async #load(lookup: AnyLookup, keys: readonly LookupKey[]): Promise<void> {
    const found = this.#rows.get(lookup) ?? new Map<LookupKey, unknown[]>();
    this.#rows.set(lookup, found);
    const { rows } = await this.#session.run(...selectAll(lookup, keys));
    const byAlone: AnyLookup = { table: lookup.table, by: lookup.by };
    for (const row of rows) {
      const record = toRecord(lookup.table, row) as object;
      const key = keyOf(byAlone, record)!;
      const known = found.get(key);
      if (known) known.push(record);
      else found.set(key, [record]);
    }
  }

  async #loadExpired(change: ResponseExpire): Promise<void> {
    const { rows } = await this.#session.run(expiredIds, [change.until, change.beyond, change.most]);
    this.#expired.set(
      change,
      rows.map(({ id }) => id as string),
    );
  }
}
