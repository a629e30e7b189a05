import type Database from 'better-sqlite3';

/** Prepares each text of SQL once. */
export class Statements {
  readonly db: Database.Database;
  readonly #prepared = new Map<string, Database.Statement>();
  readonly #plucking = new Map<string, Database.Statement>();

  constructor(db: Database.Database) {
    this.db = db;
  }

  of(sql: string): Database.Statement {
    return kept(this.#prepared, sql, () => this.db.prepare(sql));
  }

  run(sql: string, ...values: unknown[]): Database.RunResult {
    return this.of(sql).run(...values);
  }

  get<T>(sql: string, ...values: unknown[]): T | undefined {
    return this.of(sql).get(...values) as T | undefined;
  }

  all<T>(sql: string, ...values: unknown[]): T[] {
    return this.of(sql).all(...values) as T[];
  }

  /** The first column of the first row; undefined where there is no row. */
  value<T>(sql: string, ...values: unknown[]): T | undefined {
    return this.#plucked(sql).get(...values) as T | undefined;
  }

  /** The first column of all rows. */
  values<T>(sql: string, ...values: unknown[]): T[] {
    return this.#plucked(sql).all(...values) as T[];
  }

  #plucked(sql: string): Database.Statement {
    return kept(this.#plucking, sql, () => this.db.prepare(sql).pluck());
  }
}

function kept<T>(map: Map<string, T>, key: string, make: () => T): T {
  const found = map.get(key);
  if (found) return found;
  const made = make();
  map.set(key, made);
  return made;
}
