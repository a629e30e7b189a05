import { answersOf } from '../../proofs/rules.ts';
import type { ResponseExpire } from '../commit.ts';
import type { Field, Lookup, LookupKey } from '../table.ts';
import { devices, documentVersion, proofs, serviceTokens, users } from '../tables.ts';
import type { Source } from '../write/source.ts';
import type { SqliteTables } from './tables.ts';

/** What nearly every commit looks up, and few change: its caller, and the policy for proofs. */
const kept: ReadonlySet<unknown> = new Set([users.byKey, serviceTokens.byKey, documentVersion]);

const none: readonly never[] = [];

/**
 * Answers from the database. What is looked up by each commit is kept, because the process is the only writer of the database: reading
 * it each time would make a registration 5 % slower (measured).
 */
export class SqliteSource implements Source {
  readonly #tables: SqliteTables;
  readonly #beforeRead: () => void;
  readonly #kept = new Map<unknown, Map<LookupKey, readonly unknown[]>>();
  #hasAnswers: boolean | null = null;

  /** `beforeRead` is called before devices are read: it writes those that are held. */
  constructor(tables: SqliteTables, beforeRead: () => void) {
    this.#tables = tables;
    this.#beforeRead = beforeRead;
  }

  /** To be called after a change of what is kept, and when a transaction was undone. */
  forget(): void {
    this.#kept.clear();
    this.#hasAnswers = null;
  }

  find<R extends object, S extends Field<R>>(lookup: Lookup<R, S>, key: LookupKey): readonly Pick<R, S>[] {
    // Most registries have no answers at all: a batch of 10,000 must not look for each of its serial numbers.
    if ((lookup as unknown) === answersOf && !this.#anyAnswers()) return none;
    if (kept.has(lookup)) return this.#keep(lookup, key);
    if ((lookup.table as unknown) === devices) this.#beforeRead();
    const { unique, byKey } = lookup.table;
    const findsOne = (lookup as unknown) === unique || (lookup as unknown) === byKey;
    if (!findsOne) return this.#tables.all(lookup, key);
    const one = this.#tables.one(lookup, key);
    return one ? [one] : none;
  }

  expired({ until, beyond, most }: ResponseExpire): readonly string[] {
    return this.#tables.statements.values<string>(
      'SELECT id FROM response WHERE expires_at <= ? OR expires_at > ? LIMIT ?',
      until,
      beyond,
      most,
    );
  }

  #keep<R extends object, S extends Field<R>>(lookup: Lookup<R, S>, key: LookupKey): readonly Pick<R, S>[] {
    const found = this.#kept.get(lookup) ?? new Map<LookupKey, readonly unknown[]>();
    this.#kept.set(lookup, found);
    const rows = found.get(key) ?? this.#tables.all(lookup, key);
    found.set(key, rows);
    return rows as readonly Pick<R, S>[];
  }

  #anyAnswers(): boolean {
    this.#hasAnswers ??= this.#tables.statements.value(`SELECT 1 FROM ${proofs.name} LIMIT 1`) !== undefined;
    return this.#hasAnswers;
  }
}
