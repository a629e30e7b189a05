import type { Change, ChangeResult, Commit } from '../store.ts';
import { addApp } from './apps.ts';
import { addBackup, requireBackup } from './backups.ts';
import { addDevice, checkDeviceGuard, requireDevice, setDevice, useDevice } from './devices.ts';
import type { EntryContext, Journal } from './journal.ts';
import type { Statements } from './statements.ts';
import { addUser, checkUserGuard, requireUser, setUser } from './users.ts';
import { type DeviceDelta, Writing } from './writing.ts';

/** What a transaction did. */
export interface Written {
  readonly deltas: readonly DeviceDelta[];
  /** Numbers of the users that were added or changed. */
  readonly users: readonly number[];
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

  /** Applies one commit, change by change. Throws `Conflict` before anything is written. */
  *apply(commit: Commit): Generator<void, ChangeResult[]> {
    const writing = this.#writing;
    for (const guard of commit.guards ?? []) {
      if (guard.kind === 'device') checkDeviceGuard(writing.statements, guard);
      else checkUserGuard(writing.statements, guard);
    }
    for (const change of commit.changes) requireRecord(writing.statements, change);
    const results: ChangeResult[] = [];
    for (const change of commit.changes) {
      results.push(apply(writing, change, commit));
      yield;
    }
    return results;
  }

  /** Writes the sums of a transaction and returns what it did; null if it did nothing. */
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

/** Throws `Conflict` if the record that the change is about does not exist. */
function requireRecord(statements: Statements, change: Change): void {
  switch (change.kind) {
    case 'device.add':
    case 'user.add':
    case 'app.add':
      return;
    case 'device.set':
    case 'device.use':
      requireDevice(statements, change.device);
      return;
    case 'backup.add':
      requireDevice(statements, change.backup.device);
      return;
    case 'user.set':
      requireUser(statements, change.user);
      return;
    case 'backup.restore':
      requireBackup(statements, change.device, change.backup);
  }
}

function apply(writing: Writing, change: Change, context: EntryContext): ChangeResult {
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
