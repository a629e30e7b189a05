import { chmodSync, closeSync, openSync } from 'node:fs';
import Database from 'better-sqlite3';
import { personKey } from '../../../src/contract/person-key.ts';
import { StoreFailure } from '../commit.ts';
import type { Migration } from '../schema.ts';
import { toFailure } from './failure.ts';
import { applicationId, migrations as released } from './migrations.ts';

const MiB = 1024 * 1024;

/** How to open a database for writing. */
export interface OpenOptions {
  /** The database file; created if it does not exist. */
  readonly file: string;
  readonly now?: (() => number) | undefined;
  /** Receives lines for the log. */
  readonly notice?: ((message: string) => void) | undefined;
  /** The released ones if absent. */
  readonly migrations?: readonly Migration[] | undefined;
  /** The file is thrown away if this process fails: nothing need reach the disk, and an upgrade makes no copy. */
  readonly disposable?: boolean | undefined;
}

/**
 * Opens for writing: creates the database if it does not exist, and upgrades an older one (a copy stays beside it). Rejects
 * with `StoreFailure` if the database is newer, damaged or of another program; then nothing was changed.
 */
export async function openWriter(options: OpenOptions): Promise<Database.Database> {
  const { file, migrations = released } = options;
  let db: Database.Database | undefined;
  try {
    // SQLite gives its other files the mode of the database file: no one else may read any of them.
    closeSync(openSync(file, 'a', 0o600));
    db = new Database(file, { timeout: 5000 });
    const version = versionOf(db, file, migrations.length);
    addFold(db);
    if (options.disposable) disposableSettings(db);
    else settings(db);
    await migrate(db, version, options);
    return db;
  } catch (error) {
    db?.close();
    throw toFailure(error, 'cannot open the database', file);
  }
}

/** Opens for reading only, also while another process writes. */
export function openReader(file: string): Database.Database {
  try {
    const db = new Database(file, { readonly: true, timeout: 5000 });
    distrust(db);
    addFold(db);
    return db;
  } catch (error) {
    throw toFailure(error, 'cannot open the database', file);
  }
}

/** `search_fold` is the text as searches compare it; the lower() of SQLite changes ASCII letters only. The schema has it in no trigger. */
export function addFold(db: Database.Database): void {
  db.function('search_fold', { deterministic: true }, text => (typeof text === 'string' ? personKey(text) : null));
}

/**
 * The file may have been made by an attacker: its schema may not call functions with side effects, nothing is written, and cells
 * of damaged pages are checked. The library itself opens every database in the defensive mode of SQLite.
 */
function distrust(db: Database.Database): void {
  db.pragma('trusted_schema = OFF');
  db.pragma('query_only = ON');
  db.pragma('cell_size_check = ON');
}

/** Version of the schema; 0 if the database is empty. Throws `StoreFailure` for databases that must not be touched. */
export function versionOf(db: Database.Database, file: string, newest: number): number {
  const version = db.pragma('user_version', { simple: true }) as number;
  const tables = db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() as number;
  if (version === 0 && tables === 0) return 0;
  if (db.pragma('application_id', { simple: true }) !== applicationId)
    throw new StoreFailure(`${file} is a database of another program: name another home, or move the file away`);
  if (version > newest)
    throw new StoreFailure(
      `${file} has database version ${version}, this devmgr supports up to ${newest}: use the newer devmgr, or restore a backup made by this one`,
    );
  return version;
}

/** One file, which a caller brings to the disk when it is complete. */
function disposableSettings(db: Database.Database): void {
  db.pragma('journal_mode = MEMORY');
  db.pragma('synchronous = OFF');
  db.pragma('trusted_schema = OFF');
}

function settings(db: Database.Database): void {
  db.pragma('journal_mode = WAL');
  // The library's default would lose acknowledged writes in a power cut.
  db.pragma('synchronous = FULL');
  db.pragma('fullfsync = ON');
  db.pragma('foreign_keys = ON');
  // Without it, INSERT OR REPLACE deletes rows without firing the triggers that protect the journal.
  db.pragma('recursive_triggers = ON');
  db.pragma('trusted_schema = OFF');
  db.pragma('wal_autocheckpoint = 2000');
  db.pragma(`journal_size_limit = ${32 * MiB}`);
}

/** Brings the schema up to date: all steps or none. Copies the database first, unless it is empty or disposable. */
async function migrate(
  db: Database.Database,
  version: number,
  { file, now = Date.now, notice, disposable = false, migrations = released }: OpenOptions,
): Promise<void> {
  const steps = migrations.slice(version);
  if (steps.length === 0) return;
  let copy: string | null = null;
  if (version > 0 && !disposable) {
    copy = `${file}.v${version}-${new Date(now()).toISOString().replaceAll(/[-:.]/g, '')}`;
    await db.backup(copy);
    chmodSync(copy, 0o600);
    notice?.(
      `upgrading the database from version ${version} to ${migrations.length}; ${copy} is a copy of the old one`,
    );
  }
  let step: Migration | undefined;
  db.exec('BEGIN IMMEDIATE');
  try {
    for (step of steps) db.exec(step.sql);
    db.pragma(`application_id = ${applicationId}`);
    db.pragma(`user_version = ${migrations.length}`);
    db.exec('COMMIT');
  } catch (error) {
    if (db.inTransaction) db.exec('ROLLBACK');
    throw new StoreFailure(
      `${file}: upgrade step ${step?.number} (${step?.name}) failed: ${(error as Error).message}; the database is unchanged${copy ? `, and ${copy} is a copy of it` : ''}`,
      { cause: error },
    );
  }
}
