/** One transaction in two round trips: the lock and the reads; then, after the decision, the writes and COMMIT. */

import { type Commit, StoreFailure } from '../commit.ts';
import type { JournalEnd } from '../journal-end.ts';
import type { JournalHead } from '../queries.ts';
import { Draft, type HeadRow, storedHead } from './draft.ts';
import { StoreMisconfigured, sqlState } from './failure.ts';
import type { Loading } from './load.ts';
import type { Primary } from './primary.ts';
import type { Result, Session } from './session.ts';
import { apps, backups, devices, events, passkeys, type Statement, serviceTokens, users } from './tables.ts';

/** The clock is read before or after the wait for the lock: both are between the question and its answer. */
const lockHead = `SELECT event, mac, seal, at, device, "user", app, backup, service_token, passkey,
    (extract(epoch FROM clock_timestamp()) * 1000)::int8 AS now
  FROM head FOR UPDATE`;

/** Milliseconds for each round trip; more than the server waits for the lock. */
const ROUND_TRIP_MS = 30_000;

/** COMMIT was sent, and no answer says what became of it. */
export class NoAnswer extends Error {
  constructor(why: string, options?: ErrorOptions) {
    super(why, options);
    this.name = 'NoAnswer';
  }
}

/** The journal ends with a seal of none of the keys. Nothing was written. */
export class UnknownSeal extends StoreMisconfigured {
  constructor() {
    super(
      'the journal is sealed with a key that this node does not have, or its end was changed: compare journal-key and journal-keys-earlier with those of the other nodes',
      'see "devmgr daemon audit --verify"',
    );
    this.name = 'UnknownSeal';
  }
}

/** A commit of a group cannot be applied: the others can. Nothing was written. */
export class Unstorable extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = 'Unstorable';
  }
}

/** The transaction cannot have been committed. */
export class NotWritten extends Error {
  /** Whether the connection failed, so that another attempt on a new one may succeed. */
  readonly isOutage: boolean;
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = 'NotWritten';
    this.isOutage = sqlState(cause) === '' || /^(57|08|25P03|55P03)/.test(sqlState(cause));
  }
}

/** What a transaction begins with. */
export interface Beginning {
  readonly session: Session;
  readonly commits: readonly Commit[];
  readonly loading: Loading;
  readonly end: JournalEnd;
  readonly primary: Primary;
}

/**
 * Takes the lock of the database and reads what the commits need. Calls `locked` when it has the lock: what `loading` was asked for
 * before that is read under the lock in the same round trip. Rejects with `NotWritten`.
 */
export async function begin(
  { session, commits, loading, end, primary }: Beginning,
  locked: () => void,
): Promise<{ readonly draft: Draft; readonly head: HeadRow }> {
  const asked = primary.now();
  const answers = session.together(() => {
    const sent = [session.run('BEGIN ISOLATION LEVEL READ COMMITTED'), session.run(lockHead)] as const;
    loading.send(commits);
    return Promise.all(sent);
  });
  const fail = (error: unknown) => {
    throw new NotWritten(error);
  };
  const [, { rows }] = await inTime(session, answers).catch(fail).finally(locked);
  const head = rows[0] as unknown as HeadRow & { readonly now: number };
  const fill = await inTime(session, loading.answered()).catch(fail);
  primary.checkClock(head.now, asked);
  const stored = storedHead(head);
  if (stored && !end.isGenuine(stored)) throw new UnknownSeal();
  end.continueAt(stored);
  const draft = new Draft(head, end);
  fill(draft);
  return { draft, head };
}

/** Ends a transaction that has nothing to write. */
export async function abandon(session: Session): Promise<void> {
  await inTime(session, session.run('ROLLBACK')).catch(() => session.destroy());
}

/**
 * Writes the draft and commits. Resolves with the new end of the journal. Rejects with `NotWritten`, or with `NoAnswer` if it may
 * have been committed.
 */
export async function finish(session: Session, draft: Draft): Promise<JournalHead> {
  session.warnings = [];
  const head = draft.head();
  const writes: readonly Statement[] = [...writesOf(draft), updateHead(head), ['COMMIT', []]];
  const sent = session.together(() => writes.map(([sql, values]) => session.run(sql, values)));
  const answers = await inTime(session, Promise.allSettled(sent)).catch(error => {
    throw new NoAnswer(error.message, { cause: error });
  });
  const committed = answers.pop()!;
  // The server has answered it, so the transaction was aborted before COMMIT.
  const refused = answers.find(answer => answer.status === 'rejected' && sqlState(answer.reason) !== '');
  if (refused?.status === 'rejected') throw new NotWritten(refused.reason);
  checkCommitted(session, committed);
  return { id: head.event, mac: head.mac };
}

/** Throws `NotWritten` or `NoAnswer`, unless the server has committed and says nothing beside. */
export function checkCommitted(session: Session, answer: PromiseSettledResult<Result>): void {
  if (answer.status === 'rejected') {
    // A constraint or a serialization that fails at COMMIT undoes it; after anything else it may have happened.
    if (/^(23|40)/.test(sqlState(answer.reason))) throw new NotWritten(answer.reason);
    throw new NoAnswer(answer.reason.message, { cause: answer.reason });
  }
  // COMMIT of an aborted transaction succeeds, and says so in its tag alone.
  if (answer.value.tag !== 'COMMIT')
    throw new NotWritten(new StoreFailure(`COMMIT was answered with ${answer.value.tag}`));
  // A cancelled wait for the standby is a success with a warning: the commit may be on this server alone.
  const [warning] = session.warnings;
  if (warning !== undefined) throw new NoAnswer(`the server warned during COMMIT: ${warning}`);
}

/** Cuts the connection if there is no answer in time: a statement is never cancelled, because it may be COMMIT. */
export async function inTime<T>(session: Session, answers: Promise<T>): Promise<T> {
  const timer = setTimeout(() => session.destroy(), ROUND_TRIP_MS);
  try {
    return await answers;
  } finally {
    clearTimeout(timer);
  }
}

const addCounts = `INSERT INTO device_count (manufacturer, device_type, status, count)
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::int8[])
  ON CONFLICT (manufacturer, device_type, status) DO UPDATE SET count = device_count.count + excluded.count`;
const addHours = `INSERT INTO registration_count (hour, count) SELECT * FROM unnest($1::int8[], $2::int8[])
  ON CONFLICT (hour) DO UPDATE SET count = registration_count.count + excluded.count`;

/** Devices before backups, which refer to them. */
function* writesOf(draft: Draft): Generator<Statement> {
  for (const [table, records] of [
    [devices, draft.devices],
    [users, draft.users],
    [apps, draft.apps],
    [backups, draft.backups],
    [serviceTokens, draft.serviceTokens],
    [passkeys, draft.passkeys],
  ] as const) {
    if (records.added.length > 0) yield table.insert(records.added as never);
    if (records.changed.length > 0) yield [table.update, table.changed(records.changed as never)];
  }
  const counts = [...draft.counts.values()].filter(({ by }) => by !== 0);
  const column = <T, K extends keyof T>(of: readonly T[], key: K) => of.map(item => item[key]);
  if (counts.length > 0)
    yield [
      addCounts,
      [column(counts, 'manufacturer'), column(counts, 'deviceType'), column(counts, 'status'), column(counts, 'by')],
    ];
  if (draft.hours.size > 0) yield [addHours, [[...draft.hours.keys()], [...draft.hours.values()]]];
  yield* draft.responses.writes();
  yield* draft.proofs.writes(draft.at);
  yield* draft.documents.writes();
  yield* draft.webhooks.writes();
  if (draft.events.length > 0) yield events.insert(draft.events);
}

function updateHead({ event, mac, seal, at, device, user, app, backup, service_token, passkey }: HeadRow): Statement {
  return [
    `UPDATE head SET event = $1, mac = $2, seal = $3, at = $4, device = $5, "user" = $6, app = $7, backup = $8, service_token = $9, passkey = $10`,
    [event, mac, event === 0 ? null : seal, at, device, user, app, backup, service_token, passkey],
  ];
}
