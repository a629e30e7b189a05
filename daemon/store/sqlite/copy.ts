import type Database from 'better-sqlite3';
import { StoreFailure } from '../commit.ts';
import type { CopiedRow, CopiedTable, CopySource, CopyTarget } from '../copy.ts';
import { metaNames } from '../imprint.ts';
import type { StoredHead } from '../journal-end.ts';
import type { Subjects } from '../subjects.ts';
import { toFailure } from './failure.ts';
import { migrations } from './migrations.ts';
import { openReader, openWriter, versionOf } from './open.ts';
import { SqliteRows } from './rows.ts';
import { type Complete, writeNewDatabase } from './snapshot.ts';
import { Statements } from './statements.ts';

class SqliteCopy extends SqliteRows implements CopySource {
  readonly #file: string;

  constructor(db: Database.Database, file: string) {
    super(new Statements(db));
    this.#file = file;
  }

  async close(): Promise<void> {
    this.statements.db.close();
  }

  protected override run<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw toFailure(error, 'the copy failed', this.#file);
    }
  }
}

class SqliteCopyTarget extends SqliteCopy implements CopyTarget {
  readonly #subjects: Subjects;

  constructor(subjects: Subjects, db: Database.Database, file: string) {
    super(db, file);
    this.#subjects = subjects;
  }

  async copying(): Promise<string | null> {
    return this.run(
      () => this.statements.value<string>('SELECT value FROM meta WHERE name = ?', metaNames.copying) ?? null,
    );
  }

  async begin(source: string): Promise<void> {
    this.run(() => this.statements.run('INSERT INTO meta (name, value) VALUES (?, ?)', metaNames.copying, source));
  }

  async add(table: CopiedTable, columns: readonly string[], rows: readonly CopiedRow[]): Promise<void> {
    const values = columns.map(() => '?').join(', ');
    const insert = this.statements.of(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${values})`);
    this.#inTransaction(() => {
      for (const row of rows) insert.run(...row);
    });
  }

  async complete(head: StoredHead | null): Promise<void> {
    this.#inTransaction(() => {
      for (const { derived } of this.#subjects.inSqlite) if (derived) this.statements.db.exec(derived);
      this.statements.run(`DELETE FROM meta WHERE name = 'journal'`);
      if (head) this.statements.run(`INSERT INTO meta (name, value) VALUES ('journal', ?)`, JSON.stringify(head));
    });
  }

  async finish(): Promise<void> {
    this.run(() => this.statements.run('DELETE FROM meta WHERE name = ?', metaNames.copying));
  }

  #inTransaction(work: () => void): void {
    this.run(() => this.statements.db.transaction(work).immediate());
  }
}

/** Rejects with `StoreFailure` if the file is not a registry of this version: reading must not change it. */
export async function openCopySource(file: string): Promise<CopySource> {
  const db = openReader(file);
  try {
    if (versionOf(db, file, migrations.length) < migrations.length)
      throw new StoreFailure(`${file} has an older database version: start its daemon once, which upgrades it`);
    // All reads see this moment.
    db.exec('BEGIN');
    return new SqliteCopy(db, file);
  } catch (error) {
    db.close();
    throw toFailure(error, 'cannot open the database', file);
  }
}

/** Creates the database if it does not exist. */
export const openCopyTarget = async (subjects: Subjects, file: string): Promise<CopyTarget> =>
  new SqliteCopyTarget(subjects, await openWriter({ file }), file);

/** Fills the new file `to` (0600), which gets its name when `complete` has added to it. Rejects with `StoreFailure` if `to` exists. */
export async function createDatabase(
  subjects: Subjects,
  to: string,
  fill: (target: CopyTarget) => Promise<void>,
  complete?: Complete,
): Promise<void> {
  const write = async (unfinished: string) => {
    const target = new SqliteCopyTarget(subjects, await openWriter({ file: unfinished, disposable: true }), unfinished);
    try {
      await fill(target);
    } finally {
      await target.close();
    }
  };
  await writeNewDatabase(to, write, complete);
}

/** Opens a file that only this process uses; one of an earlier version is upgraded. */
export async function openDisposable(file: string): Promise<CopySource> {
  (await openWriter({ file, disposable: true })).close();
  return openCopySource(file);
}
