import type { ResponseExpire } from '../commit.ts';
import type { Subjects } from '../subjects.ts';
import type { Field, Lookup, LookupKey } from '../table.ts';
import type { Draft } from '../write/draft.ts';
import type { Source } from '../write/source.ts';
import type { SqliteTables } from './tables.ts';

const none: readonly never[] = [];

/**
 * Answers from the database. What is looked up by each commit is kept, because the process is the only writer of the database: reading
 * it each time would make a registration 5 % slower (measured).
 */
export class SqliteSource implements Source {
  readonly #keeps: Subjects['kept'];
  readonly #rare: Subjects['rare'];
  readonly #tables: SqliteTables;
  readonly #beforeRead: (table: unknown) => void;
  readonly #kept = new Map<unknown, Map<LookupKey, readonly unknown[]>>();
  /** Whether a table of `Subject.rare` has a row. */
  readonly #hasRows = new Map<unknown, boolean>();

  /** `beforeRead` writes the rows of a table that are held. */
  constructor({ kept, rare }: Subjects, tables: SqliteTables, beforeRead: (table: unknown) => void) {
    this.#keeps = kept;
    this.#rare = rare;
    this.#tables = tables;
    this.#beforeRead = beforeRead;
  }

  /** To be called when a transaction was undone. */
  forget(): void {
    this.#kept.clear();
    this.#hasRows.clear();
  }

  /** To be called after a transaction. */
  forgetChanged(draft: Draft): void {
    for (const { table } of [...this.#keeps, ...this.#rare])
      if (draft.touches(table)) {
        this.forget();
        return;
      }
  }

  find<R extends object, S extends Field<R>>(lookup: Lookup<R, S>, key: LookupKey): readonly Pick<R, S>[] {
    // A batch of 10,000 must not look for each of its rows in a table that is empty.
    if (this.#rare.has(lookup) && !this.#anyIn(lookup.table.name)) return none;
    if (this.#keeps.has(lookup)) return this.#keep(lookup, key);
    this.#beforeRead(lookup.table);
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

  #anyIn(table: string): boolean {
    const known = this.#hasRows.get(table);
    if (known !== undefined) return known;
    const found = this.#tables.statements.value(`SELECT 1 FROM ${table} LIMIT 1`) !== undefined;
    this.#hasRows.set(table, found);
    return found;
  }
}
