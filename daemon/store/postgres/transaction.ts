/** One transaction in two round trips: the lock and the reads; then, after the decision, the writes and COMMIT. */

import { type Commit, StoreFailure } from '../commit.ts';
import { StoreMisconfigured } from '../database.ts';
import type { JournalEnd } from '../journal-end.ts';
import type { JournalHead } from '../queries.ts';
import type { Subjects } from '../subjects.ts';
import { Draft } from '../write/draft.ts';
import { sqlState } from './failure.ts';
import { type HeadRow, lastColumns, storedHead } from './head.ts';
import type { TransactionReads } from './load.ts';
import type { Primary } from './primary.ts';
import type { DatabaseSession, Result } from './session.ts';
import type { Statement } from './tables.ts';
import { updateHead, writesOf } from './writes.ts';

/** The clock is read before or after the wait for the lock: both are between the question and its answer. */
const lockHead = (subjects: Subjects) => `SELECT event, mac, seal, at, ${lastColumns(subjects).join(', ')},
    (extract(epoch FROM clock_timestamp()) * 1000)::int8 AS now
  FROM head FOR UPDATE`;

/** COMMIT was sent, and it is unknown whether it was carried out. */
export class NoAnswer extends Error {
  override name = 'NoAnswer';
}

/** The journal ends with a seal of none of the keys. Nothing was written. */
export class UnknownSeal extends StoreMisconfigured {
  override name = 'UnknownSeal';
  constructor() {
    super(
      'the journal is sealed with a key that this node does not have, or its end was changed: compare journal-key and journal-keys-earlier with those of the other nodes',
      'see "devmgr daemon audit --verify"',
    );
  }
}

/** The transaction cannot have been committed. */
export class NotWritten extends Error {
  override name = 'NotWritten';
  /** Whether the connection failed, so that another attempt on a new one may succeed. */
  readonly isOutage: boolean;
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.isOutage = sqlState(cause) === '' || /^(57|08|25P03|55P03)/.test(sqlState(cause));
  }
}

/** Dependencies of the beginning of a transaction. */
interface Start {
  readonly subjects: Subjects;
  readonly session: DatabaseSession;
  readonly commits: readonly Commit[];
  readonly loading: TransactionReads;
  readonly end: JournalEnd;
  readonly primary: Primary;
}

/**
 * Takes the lock of the database and reads what the commits need. Calls `locked` when it has the lock: what `loading` was asked for
 * before that is read under the lock in the same round trip. Rejects with `NotWritten`.
 */
export async function begin(
  { subjects, session, commits, loading, end, primary }: Start,
  locked: () => void,
): Promise<{ readonly draft: Draft; readonly after: number }> {
  const asked = primary.now();
  const answers = session.together(() => {
    const sent = [session.run('BEGIN ISOLATION LEVEL READ COMMITTED'), session.run(lockHead(subjects))] as const;
    loading.send(commits);
    return Promise.all(sent);
  });
  const fail = (error: unknown) => {
    throw new NotWritten(error);
  };
  const [, { rows }] = await answers.catch(fail).finally(locked);
  const head = rows[0] as unknown as HeadRow & { readonly now: number } & Record<string, number>;
  await loading.answered().catch(fail);
  primary.checkClock(head.now, asked);
  const stored = storedHead(head);
  if (stored && !end.isGenuine(stored)) throw new UnknownSeal();
  end.continueAt(stored);
  const last = Object.fromEntries(subjects.tables.map(({ name }) => [name, head[name]!]));
  return { draft: new Draft({ source: loading, last, end, at: head.at }), after: head.event };
}

/** Ends a transaction that has nothing to write. */
export async function abandon(session: DatabaseSession): Promise<void> {
  await session.run('ROLLBACK').catch(() => session.destroy());
}

/**
 * Writes the draft and commits. Resolves with the new end of the journal. Rejects with `NotWritten`, or with `NoAnswer` if it may
 * have been committed.
 */
export async function finish(subjects: Subjects, session: DatabaseSession, draft: Draft): Promise<JournalHead> {
  session.warnings = [];
  const head = draft.seal();
  const writes: readonly Statement[] = [
    ...writesOf(subjects, draft),
    updateHead(subjects, draft, head),
    ['COMMIT', []],
  ];
  const sent = session.together(() => writes.map(([sql, values]) => session.run(sql, values)));
  const answers = await Promise.allSettled(sent);
  const committed = answers.pop()!;
  // The server has answered it, so the transaction was aborted before COMMIT.
  const refused = answers.find(answer => answer.status === 'rejected' && sqlState(answer.reason) !== '');
  if (refused?.status === 'rejected') throw new NotWritten(refused.reason);
  checkCommitted(session, committed);
  return { id: head.id, mac: head.mac };
}

/** Throws `NotWritten` or `NoAnswer`, unless the server has committed and reports nothing beside. */
export function checkCommitted(session: DatabaseSession, answer: PromiseSettledResult<Result>): void {
  if (answer.status === 'rejected') {
    // A constraint or a serialization that fails at COMMIT undoes it; after anything else it may have happened.
    if (/^(23|40)/.test(sqlState(answer.reason))) throw new NotWritten(answer.reason);
    throw new NoAnswer(answer.reason.message, { cause: answer.reason });
  }
  // COMMIT of an aborted transaction succeeds, and shows this in its tag alone.
  if (answer.value.tag !== 'COMMIT')
    throw new NotWritten(new StoreFailure(`COMMIT was answered with ${answer.value.tag}`));
  // A cancelled wait for the standby is a success with a warning: the commit may be on this server alone.
  const [warning] = session.warnings;
  if (warning !== undefined) throw new NoAnswer(`the server warned during COMMIT: ${warning}`);
}
