import type { Change, ChangeResult, Commit } from '../commit.ts';
import type { EntryContext } from '../journal-end.ts';
import { appWrites } from './apps.ts';
import { backupWrites } from './backups.ts';
import { checkDeviceGuard, deviceWrites } from './devices.ts';
import { type Journal, journalWrites } from './journal.ts';
import { checkPasskeysGuard, passkeyWrites } from './passkeys.ts';
import { proofWrites } from './proofs.ts';
import { checkResponse, responseWrites, writeResponse } from './responses.ts';
import { serviceTokenWrites } from './service-tokens.ts';
import type { Statements } from './statements.ts';
import { checkUserGuard, userWrites } from './users.ts';
import { webhookWrites } from './webhooks.ts';
import { type DeviceDelta, type Writes, Writing } from './writing.ts';

/** What a transaction did. */
export interface Written {
  readonly deltas: readonly DeviceDelta[];
  /** Numbers of the users that were added or changed. */
  readonly users: readonly number[];
  /** Numbers of the service tokens that were added or revoked. */
  readonly serviceTokens: readonly number[];
  readonly lastEventId: number;
}

/** Applies commits inside a transaction that the caller begins and ends: `finish` before COMMIT, `reload` after ROLLBACK. */
export class Writer {
  readonly #writing: Writing;

  constructor(statements: Statements, journal: Journal) {
    this.#writing = new Writing(statements, journal);
  }

  /** Reads the state of the database. Returns what is wrong with the end of the journal; null if nothing is. */
  reload(): string | null {
    return this.#writing.reload();
  }

  /** Applies one commit, change by change. Throws a `CommitRefusal` before anything is written. */
  *apply(commit: Commit): Generator<void, ChangeResult[]> {
    const writing = this.#writing;
    if (commit.caller) writing.callers.check(writing.statements, commit.caller);
    checkResponse(writing.statements, commit);
    for (const guard of commit.guards ?? []) {
      if (guard.kind === 'device') checkDeviceGuard(writing.statements, guard);
      else if (guard.kind === 'document') writing.kept.checkDocument(writing.statements, guard);
      else if (guard.kind === 'unanswered') writing.kept.checkUnanswered(writing.statements, guard);
      else if (guard.kind === 'passkeys') checkPasskeysGuard(writing.statements, guard);
      else checkUserGuard(writing.statements, guard);
    }
    for (const change of commit.changes) writeOf(change).check?.(change, writing.statements);
    const results: ChangeResult[] = [];
    for (const change of commit.changes) {
      results.push(writeOf(change).apply(change, commit, writing));
      yield;
    }
    writeResponse(writing.statements, commit, results);
    return results;
  }

  /** Writes the sums of a transaction and returns what it did; null if it did nothing that the journal has. */
  finish(): Written | null {
    const writing = this.#writing;
    if (!writing.journal.unsealed) return null;
    writing.counters.write(writing.statements);
    writing.journal.seal();
    const { deltas, users, serviceTokens } = writing;
    writing.forget();
    return { deltas, users: [...users], serviceTokens: [...serviceTokens], lastEventId: writing.journal.lastId };
  }
}

const writes: Writes<Change['kind']> = {
  ...deviceWrites,
  ...userWrites,
  ...appWrites,
  ...backupWrites,
  ...serviceTokenWrites,
  ...passkeyWrites,
  ...proofWrites,
  ...webhookWrites,
  ...journalWrites,
  ...responseWrites,
};

/** How the change is written. The compiler cannot see that an entry of the table takes exactly the changes of its kind. */
const writeOf = (change: Change) =>
  writes[change.kind] as {
    readonly check?: (change: Change, statements: Statements) => void;
    readonly apply: (change: Change, context: EntryContext, writing: Writing) => ChangeResult;
  };
