import type Database from 'better-sqlite3';

/** Prepared statements by their SQL: each is prepared once. */
export class Statements {
  readonly db: Database.Database;
  readonly #prepared = new Map<string, Database.Statement>();
  readonly #plucking = new Map<string, Database.Statement>();

  constructor(db: Database.Database) {
    this.db = db;
  }

  /** The statement, prepared at the first call. */
  of(sql: string): Database.Statement {
    return cached(this.#prepared, sql, () => this.db.prepare(sql));
  }

  run(sql: string, ...values: unknown[]): Database.RunResult {
    return this.of(sql).run(...values);
  }

  /** The first row; undefined if there is none. */
  get<T>(sql: string, ...values: unknown[]): T | undefined {
    return this.of(sql).get(...values) as T | undefined;
  }

  all<T>(sql: string, ...values: unknown[]): T[] {
    return this.of(sql).all(...values) as T[];
  }

  /** The first column of the first row; undefined if there is no row. */
  value<T>(sql: string, ...values: unknown[]): T | undefined {
    return this.#plucked(sql).get(...values) as T | undefined;
  }

  /** The first column of every row. */
  values<T>(sql: string, ...values: unknown[]): T[] {
    return this.#plucked(sql).all(...values) as T[];
  }

  /** Reads in one transaction: that of the caller, or one of its own. */
  together(read: () => void): void {
    if (this.db.inTransaction) read();
    else this.db.transaction(read)();
  }

  #plucked(sql: string): Database.Statement {
    return cached(this.#plucking, sql, () => this.db.prepare(sql).pluck());
  }
}

function cached<T>(map: Map<string, T>, key: string, create: () => T): T {
  const found = map.get(key);
  if (found) return found;
  const created = create();
  map.set(key, created);
  return created;
}
