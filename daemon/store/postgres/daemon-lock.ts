/** Who uses a database: daemons share locks that others take alone. */
import { StoreUnreachable } from '../database.ts';
import type { Address } from './address.ts';
import type { DatabaseSession } from './session.ts';

/** The first number of the advisory locks of devmgr ('DvMg'). */
export const lockSpace = 0x44764d67;
const DAEMON_LOCK = 2;
/** The first number of the locks of daemons by the version of the schema that they know ('DvMs'). */
const schemaSpace = 0x44764d73;

/**
 * Daemons share this lock; what replaces rows behind them takes it alone. A session holds it until its end. `schema`: the version of the
 * schema that the daemon knows.
 */
export async function joinDaemons(session: DatabaseSession, { text }: Address, schema: number): Promise<void> {
  if (!(await isTaken(session, 'pg_try_advisory_lock_shared', [lockSpace, DAEMON_LOCK])))
    throw new StoreUnreachable(
      `${text} is being copied or restored${await byWhom(session)}`,
      'start the daemon when that has ended',
    );
  if (!(await isTaken(session, 'pg_try_advisory_lock_shared', [schemaSpace, schema])))
    throw new StoreUnreachable(`the schema of ${text} is being upgraded`, 'use the newer devmgr');
}

/** Keeps all daemons away from the database until the session ends. Rejects with `StoreUnreachable` if one uses it. */
export async function takeDaemonLock(session: DatabaseSession, { text }: Address): Promise<void> {
  if (await isTaken(session, 'pg_try_advisory_lock', [lockSpace, DAEMON_LOCK])) return;
  throw new StoreUnreachable(
    `a daemon uses ${text}${await byWhom(session)}`,
    'stop all daemons of this registry first',
  );
}

/** Keeps daemons that know a schema older than `oldest` away until the transaction ends. Rejects with `StoreUnreachable` if one runs. */
export async function excludeOlder(session: DatabaseSession, { text }: Address, oldest: number): Promise<void> {
  for (let schema = 1; schema < oldest; schema++)
    if (!(await isTaken(session, 'pg_try_advisory_xact_lock', [schemaSpace, schema])))
      throw new StoreUnreachable(
        `a daemon of an earlier devmgr uses ${text}, and cannot use its new schema`,
        'stop all daemons of that version first',
      );
}

async function isTaken(session: DatabaseSession, lock: string, key: readonly [number, number]): Promise<boolean> {
  const { rows } = await session.runOnce(`SELECT ${lock}($1, $2) AS taken`, key);
  return rows[0]!.taken === true;
}

const holders = `pg_locks WHERE locktype = 'advisory' AND classid = $1::int8::oid AND objid = $2::int8::oid AND granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/** Selects how many sessions hold the lock, as `users`. */
export const countDaemons = { sql: `SELECT count(*)::int AS users FROM ${holders}`, values: [lockSpace, DAEMON_LOCK] };

/** The names of the sessions that hold the lock, as `DatabaseSession` makes them; an empty text if they have just ended. */
async function byWhom(session: DatabaseSession): Promise<string> {
  const { rows } = await session.runOnce(
    `SELECT DISTINCT application_name AS name FROM pg_stat_activity
     WHERE pid IN (SELECT pid FROM ${holders}) AND pid <> pg_backend_pid() ORDER BY 1`,
    countDaemons.values,
  );
  const names = rows.map(({ name }) => name as string).filter(Boolean);
  return names.length ? `: ${names.join(', ')}` : '';
}
