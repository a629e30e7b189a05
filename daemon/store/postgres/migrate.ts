import { StoreMisconfigured, StoreUnreachable } from '../database.ts';
import type { Migration } from '../schema.ts';
import type { Address } from './address.ts';
import { excludeOlder, lockSpace } from './daemon-lock.ts';
import { sqlState, toOpenFailure } from './failure.ts';
import { personSearchIndex, migrations as released, searchIndex } from './migrations.ts';
import { searchTextIndex } from './search-texts.ts';
import { type DatabaseLogin, DatabaseSession } from './session.ts';

const MIGRATION_LOCK = 1;

interface MigrationOptions {
  readonly address: Address;
  /** Receives lines for the log. */
  readonly notice: (message: string) => void;
  /** The released ones if absent. */
  readonly migrations?: readonly Migration[] | undefined;
}

/**
 * Refuses a database that cannot be a registry, and brings its schema up to date: all steps or none, in one process at a time.
 * Rejects with `StoreMisconfigured` or `StoreUnreachable`; then nothing was changed.
 */
export async function prepareDatabase(session: DatabaseSession, preparing: MigrationOptions): Promise<void> {
  const { address, migrations = released } = preparing;
  await checkServer(session, address);
  // Most starts find a schema that is up to date, and need no lock.
  if ((await versionOf(session, address, migrations.length)) >= migrations.length) return;
  await session.runOnce('BEGIN');
  try {
    // Another node may take long for its steps; then there is nothing left to do.
    await session.runOnce(`SET LOCAL lock_timeout = '10min'`);
    await session.runOnce('SELECT pg_advisory_xact_lock($1, $2)', [lockSpace, MIGRATION_LOCK]);
    await migrate(session, preparing, migrations);
    await session.runOnce('COMMIT');
  } catch (error) {
    await session.runOnce('ROLLBACK').catch(() => {});
    throw error;
  }
}

/** Runs work before the store is open, on a connection of its own. Rejects like `openPostgresStore`. */
export async function beforeOpening<T>(
  login: DatabaseLogin,
  work: (session: DatabaseSession) => Promise<T>,
): Promise<T> {
  let session: DatabaseSession | undefined;
  try {
    session = await DatabaseSession.open(login, { idleInTransactionMs: 60_000, lockMs: 10_000 });
    return await work(session);
  } catch (error) {
    throw toOpenFailure(error, login.address.text);
  } finally {
    await session?.close();
  }
}

/** Refuses a server that is too old or read-only, and a database with another encoding or locale. */
export async function checkServer(session: DatabaseSession, { text }: Address): Promise<void> {
  const { rows } = await session.runOnce(
    `SELECT current_setting('server_version_num')::int / 10000 AS version, pg_is_in_recovery() AS standby,
       current_setting('transaction_read_only') = 'on' AS readonly, pg_encoding_to_char(encoding) AS encoding,
       datcollate AS "collate", datctype AS ctype
     FROM pg_database WHERE datname = current_database()`,
  );
  const { version, standby, readonly, encoding, collate, ctype } = rows[0]!;
  if (Number(version) < 15)
    throw new StoreMisconfigured(`${text} is PostgreSQL ${version}`, 'devmgr needs PostgreSQL 15 or later');
  if (standby || readonly)
    throw new StoreUnreachable(`${text} is read-only${standby ? ': it is a standby' : ''}`, 'name the primary server');
  const isPlain = (locale: unknown) => locale === 'C' || locale === 'POSIX';
  if (encoding !== 'UTF8' || !isPlain(collate) || !isPlain(ctype))
    throw new StoreMisconfigured(
      `${text} has the encoding ${encoding} and the locale ${collate}; devmgr needs UTF8 and C`,
      'create it with: createdb --locale=C --encoding=UTF8 --template=template0',
    );
}

/**
 * Version of the schema; 0 if the database is empty. Refuses a newer one that a program of version `newest` cannot use, and a database
 * of another program.
 */
export async function versionOf(session: DatabaseSession, { text }: Address, newest: number): Promise<number> {
  const { rows } = await session.runOnce(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm')`,
  );
  if (rows.length === 0) return 0;
  if (!rows.some(({ name }) => name === 'devmgr_schema'))
    throw new StoreMisconfigured(`${text} has tables of another program`, 'create a database for devmgr alone');
  const { version, readableBy } = await schemaOf(session);
  if (version > newest && readableBy > newest)
    throw new StoreMisconfigured(
      `${text} has schema version ${version}, this devmgr supports up to ${newest}`,
      'use the newer devmgr',
    );
  return version;
}

/** The version of the schema, which is at least that of this program: reading must not upgrade it. */
export async function currentVersion(session: DatabaseSession, address: Address): Promise<number> {
  await checkServer(session, address);
  const version = await versionOf(session, address, released.length);
  if (version < released.length)
    throw new StoreMisconfigured(
      `${address.text} has no registry of this version`,
      'start the daemon once: it creates or upgrades the registry',
    );
  return version;
}

/** `readableBy`: the oldest version that a program must know to use the schema. */
async function schemaOf(session: DatabaseSession): Promise<{ readonly version: number; readonly readableBy: number }> {
  const { version, readable_by: readableBy } = (await session.runOnce('SELECT * FROM devmgr_schema')).rows[0] ?? {};
  return { version: Number(version), readableBy: Number(readableBy ?? version) };
}

async function migrate(
  session: DatabaseSession,
  { address, notice }: MigrationOptions,
  migrations: readonly Migration[],
): Promise<void> {
  const version = await versionOf(session, address, migrations.length);
  // Another node may have carried out the steps.
  if (version >= migrations.length) return;
  const before = version === 0 ? 0 : (await schemaOf(session)).readableBy;
  const steps = migrations.slice(version);
  const readableBy = Math.max(before, ...steps.map(step => step.readableBy ?? step.number));
  if (version > 0) await excludeOlder(session, address, readableBy);
  for (const { number, name, sql } of steps) {
    try {
      await session.runOnce(sql);
    } catch (error) {
      // This user does not own the schema; the step itself has not failed.
      if (sqlState(error) === '42501') throw error;
      throw new StoreMisconfigured(
        `${address.text}: upgrade step ${number} (${name}) failed: ${(error as Error).message}`,
        'the database is unchanged',
        { cause: error },
      );
    }
  }
  if (version === 0) {
    await session.runOnce('CREATE TABLE devmgr_schema (version int8 NOT NULL, readable_by int8)');
    await session.runOnce('INSERT INTO devmgr_schema VALUES ($1, $2)', [migrations.length, readableBy]);
    await addSearch(session, notice);
  } else {
    await session.runOnce('ALTER TABLE devmgr_schema ADD COLUMN IF NOT EXISTS readable_by int8');
    await session.runOnce('UPDATE devmgr_schema SET version = $1, readable_by = $2', [migrations.length, readableBy]);
    notice(`the schema of ${address.text} was upgraded from version ${version} to ${migrations.length}`);
  }
}

/** Without the extension, or the right to create it, keywords are still found, but more slowly. */
async function addSearch(session: DatabaseSession, notice: (message: string) => void): Promise<void> {
  await session.runOnce('SAVEPOINT search');
  try {
    await session.runOnce('CREATE EXTENSION IF NOT EXISTS pg_trgm');
    await session.runOnce(searchIndex);
    await session.runOnce(personSearchIndex);
    await session.runOnce(searchTextIndex);
    await session.runOnce('RELEASE search');
  } catch (error) {
    await session.runOnce('ROLLBACK TO search');
    notice(`pg_trgm is missing (${(error as Error).message}): searches by keyword look at every device`);
  }
}
