import { chmodSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { StoreFailure } from '../commit.ts';
import type { Migration } from '../schema.ts';
import { applicationId } from './migrations.ts';

interface Migrating {
  readonly file: string;
  readonly now?: (() => number) | undefined;
  readonly notice?: ((message: string) => void) | undefined;
  readonly disposable?: boolean | undefined;
}

/** Brings the schema up to date: all steps or none. Copies the database first, unless it is empty or disposable. */
export async function migrate(
  db: Database.Database,
  version: number,
  { file, now = Date.now, notice, disposable = false }: Migrating,
  migrations: readonly Migration[],
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
