import type { Change, Commit, Outcome } from '../store.ts';
import { checkCommit } from './guards.ts';
import type { EntryContext, Journal } from './journal.ts';
import type { Statements } from './statements.ts';
import { addDevice, setDevice, useDevice } from './write-devices.ts';
import { addApp, addBackup, addUser, setUser } from './write-records.ts';
import { type DeviceDelta, Writing } from './writing.ts';

/** What a transaction did. */
export interface Written {
  readonly deltas: readonly DeviceDelta[];
  /** Numbers of users that were added or changed. */
  readonly users: readonly number[];
  readonly lastEventId: number;
}

/** Applies commits inside a transaction that the caller begins and ends: `finish` before COMMIT, `reload` after ROLLBACK. */
export class Writer {
  readonly #writing: Writing;

  constructor(statements: Statements, journal: Journal) {
    this.#writing = new Writing(statements, journal);
  }

  /** Takes up where the database stands. Returns what is wrong with the end of the journal; null where nothing is. */
  reload(): string | null {
    return this.#writing.reload();
  }

  /** Applies one commit, change by change. Throws `Conflict` before anything is written. */
  *apply(commit: Commit): Generator<void, Outcome[]> {
    checkCommit(this.#writing.statements, commit);
    const outcomes: Outcome[] = [];
    for (const change of commit.changes) {
      outcomes.push(apply(this.#writing, change, commit));
      yield;
    }
    return outcomes;
  }

  /** Writes what is summed up over a transaction, and returns what it did; null where that is nothing. */
  finish(): Written | null {
    const writing = this.#writing;
    if (!writing.journal.unsealed) return null;
    writing.counters.write(writing.statements);
    writing.journal.seal();
    const { deltas, users } = writing;
    writing.forget();
    return { deltas, users: [...users], lastEventId: writing.journal.lastId };
  }
}

function apply(writing: Writing, change: Change, context: EntryContext): Outcome {
  switch (change.kind) {
    case 'device.add':
      return addDevice(writing, change, context);
    case 'device.set':
      return setDevice(writing, change, context);
    case 'device.use':
      return useDevice(writing, change, context);
    case 'user.add':
      return addUser(writing, change, context);
    case 'user.set':
      return setUser(writing, change, context);
    case 'app.add':
      return addApp(writing, change, context);
    case 'backup.add':
      return addBackup(writing, change, context);
    case 'backup.restore':
      writing.journal.append(context, change.entry, change.device, change.backup);
      return { kind: 'done' };
  }
}
