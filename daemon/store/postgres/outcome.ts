/** Finds out whether a commit without an answer was written. */
import { setTimeout as sleep } from 'node:timers/promises';
import { OutcomeUnknown } from '../commit.ts';
import type { JournalHead } from '../queries.ts';
import type { Session } from './session.ts';
import { checkCommitted, inTime } from './transaction.ts';

/** Milliseconds until it is given up, and between two attempts. */
export interface Patience {
  readonly totalMs: number;
  readonly pauseMs: number;
}

/**
 * Whether the journal contains the last entry of the commit. The lock comes first: as long as the commit is being carried out, its
 * session holds it. If the entry is there, one more durable write makes sure that everything before it is as durable. Rejects with
 * `OutcomeUnknown`.
 */
export async function wasWritten(
  connect: () => Promise<Session>,
  mark: JournalHead,
  { totalMs, pauseMs }: Patience,
): Promise<boolean> {
  let last: unknown;
  for (const deadline = performance.now() + totalMs; performance.now() < deadline; await sleep(pauseMs)) {
    try {
      return await look(await connect(), mark);
    } catch (error) {
      last = error;
    }
  }
  const why = last instanceof Error ? last.message : String(last);
  throw new OutcomeUnknown(`the server has not said whether journal entry ${mark.id} was written: ${why}`, {
    cause: last,
  });
}

async function look(session: Session, { id, mac }: JournalHead): Promise<boolean> {
  session.warnings = [];
  try {
    const [, , entry] = await inTime(
      session,
      Promise.all([
        session.run('BEGIN ISOLATION LEVEL READ COMMITTED'),
        session.run('SELECT event FROM head FOR UPDATE'),
        session.run('SELECT mac FROM event WHERE id = $1', [id]),
      ]),
    );
    if (entry.rows[0]?.mac !== mac) {
      await inTime(session, session.run('ROLLBACK'));
      return false;
    }
    const [, committed] = await inTime(
      session,
      Promise.allSettled([session.run('UPDATE head SET touched = touched + 1'), session.run('COMMIT')]),
    );
    checkCommitted(session, committed);
    return true;
  } catch (error) {
    session.destroy();
    throw error;
  }
}
