/** Rewrites the tables that can name a person, so that their files have nothing of what was deleted. */
import { poll } from '../../../src/delivery/wait.ts';
import { StoreFailure } from '../commit.ts';
import type { ErasedName } from '../store.ts';
import { toFailure } from './failure.ts';
import type { DatabaseSession } from './session.ts';

/** The tables, in SQL. */
const rewritten = [
  'person',
  'leaver_case',
  'refused_request',
  'response',
  'credential',
  'receipt',
  'backup',
  '"user"',
  'device_before',
  'device_key_count',
  'device',
  'search_text',
] as const;

/** `$1`: the id that devices show, `$2` the key of the id, `$3` the key of the name. The devices have had former names too. */
const erasedBefore = `UPDATE device_before AS b SET user_id = $1, user_key = $2 FROM device AS d
  WHERE d.number = b.number AND b.user_id IS NOT NULL AND (d.user_key = $2 OR b.user_key = $3)`;
const unusedCounts =
  'DELETE FROM device_key_count AS c WHERE NOT EXISTS (SELECT FROM device AS d WHERE d.user_key = c.user_key)';

/** Transactions, slots and prepared transactions for which a table that is rewritten keeps rows deleted before `$1`. */
const older = `SELECT count(*)::int8 AS n FROM (
  SELECT backend_xmin FROM pg_stat_activity WHERE pid <> pg_backend_pid()
  UNION ALL SELECT backend_xid FROM pg_stat_activity WHERE pid <> pg_backend_pid()
  UNION ALL SELECT xmin FROM pg_replication_slots UNION ALL SELECT catalog_xmin FROM pg_replication_slots
  UNION ALL SELECT transaction FROM pg_prepared_xacts) AS held (id) WHERE age(id) > age($1::text::xid)`;
/** Milliseconds between two looks at them, and of all looks together. */
const LOOK_MS = 50;
const PATIENCE_MS = 60_000;

/** Waits until no transaction sees what was deleted before this call. */
async function untilUnseen(session: DatabaseSession): Promise<void> {
  const [now] = (await session.runOnce('SELECT pg_current_xact_id()::xid::text AS id')).rows;
  const isSeen = async () => (await session.runOnce(older, [now!.id])).rows[0]!.n !== 0;
  if (await poll(async () => !(await isSeen()) || null, { everyMs: LOOK_MS, forMs: PATIENCE_MS })) return;
  throw new StoreFailure(
    'the tables were not rewritten: a transaction, a replication slot or a standby of this server still needs deleted rows. End it, and repeat the erasure',
  );
}

/** Each table is locked while it is rewritten. Closes the session. */
export async function rewriteTables(session: DatabaseSession, erased: readonly ErasedName[]): Promise<void> {
  try {
    await session.runOnce("SELECT set_config('lock_timeout', '60s', false)");
    for (const { userKey, userId } of erased)
      await session.runOnce(erasedBefore, [userId, userId.toLowerCase(), userKey]);
    await session.runOnce(unusedCounts);
    await untilUnseen(session);
    for (const table of rewritten) await session.runOnce(`VACUUM (FULL, ANALYZE) ${table}`);
    // Samples of values, from which the server has just removed those of before. Only the owner of the database may rewrite them.
    await untilUnseen(session);
    await session.runOnce('VACUUM FULL pg_statistic').catch(() => {});
  } catch (error) {
    throw toFailure(error, 'the tables were not rewritten');
  } finally {
    await session.close();
  }
}
