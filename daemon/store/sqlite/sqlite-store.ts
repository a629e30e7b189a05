import type Database from 'better-sqlite3';
import { cooperatively } from '../../concurrency.ts';
import type { CommitNotice, Store } from '../store.ts';
import { macWith } from './chain.ts';
import { type CheckReport, checkDatabase } from './check.ts';
import { toFailure } from './failure.ts';
import { GroupCommit } from './group.ts';
import { Journal } from './journal.ts';
import { listedDevices, plainLists } from './lists/index.ts';
import { addFunctions } from './lists-sql.ts';
import { type OpenOptions, openReader, openWriter } from './open.ts';
import { readerOf, tableReads } from './read.ts';
import { ReadBatch } from './read-batch.ts';
import { backupDatabase } from './snapshot.ts';
import { Statements } from './statements.ts';
import { type JournalReport, verifyJournal } from './verify.ts';
import { Writer, type Written } from './write.ts';

export interface SqliteOptions extends OpenOptions {
  /** Secret that chains the entries of the journal; kept apart from the database. */
  readonly journalKey: Uint8Array;
  /** Lists of devices by plain SQL alone: no memory for them, but slow from some ten thousand devices on. */
  readonly plainLists?: boolean | undefined;
  /** Milliseconds of work on the event loop after which others get their turn; 4 where it is not given. */
  readonly turnMilliseconds?: number | undefined;
}

export interface SqliteStore extends Store {
  /** Copies the database into a new file, under load. See `backupDatabase`. */
  backupTo(to: string): Promise<void>;
  /** Looks whether everything is whole. See `checkDatabase`. */
  check(): Promise<CheckReport>;
  /** Resolves when lists of devices come out of memory; before, plain SQL answers them the same. */
  readonly listsReady: Promise<void>;
  /** Finds entries that were changed, removed, inserted or moved. */
  verifyJournal(): Promise<JournalReport>;
}

/**
 * Opens the store in a database file: see `openWriter` for what is made, brought up to date and refused. The daemon is to be the
 * only one who has it open for writing.
 */
export async function openSqliteStore(options: SqliteOptions): Promise<SqliteStore> {
  const writing = await openWriter(options);
  let reading: Database.Database | undefined;
  try {
    // A transaction may span several turns of the loop; on a connection of their own, reads see only what is committed.
    reading = openReader(options.file);
    addFunctions(reading);
    return assemble(options, writing, reading);
  } catch (error) {
    reading?.close();
    writing.close();
    throw toFailure(error, 'cannot open the database', options.file);
  }
}

function assemble(options: SqliteOptions, writing: Database.Database, reading: Database.Database): SqliteStore {
  const { file, journalKey, notice, turnMilliseconds: turns } = options;
  const mac = macWith(journalKey);
  const writable = new Statements(writing);
  const batch = new ReadBatch(reading, error => toFailure(error, 'cannot read', file));
  const readable = new Statements(reading);
  const writer = new Writer(writable, new Journal(writable, mac));
  const fault = writer.reload();
  if (fault) notice?.(`${fault}; "devmgr daemon audit --verify" names them`);
  const listeners = new Set<(notice: CommitNotice) => void>();
  const devices = options.plainLists ? plainLists(readable) : listedDevices(readable, { budget: turns, notice });
  const committed = ({ lastEventId, users, deltas }: Written) => {
    devices.apply(deltas);
    for (const listener of listeners) tell(listener, { lastEventId, users }, notice);
  };
  const group = new GroupCommit(writing, writer, committed, turns);
  let closing: Promise<void> | null = null;
  return {
    ...readerOf({ ...tableReads(readable), devices: query => devices.list(query) }, read => batch.run(read)),
    commit: commit => group.add(commit),
    onCommit(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async health() {
      if (group.failure) group.probe();
      if (group.closed) return { ready: false, detail: 'the store is closed' };
      return group.failure ? { ready: false, detail: group.failure.message } : { ready: true, detail: 'SQLite' };
    },
    backupTo: to => backupDatabase(file, to),
    check: () => checkDatabase(file, journalKey),
    verifyJournal: () => cooperatively(verifyJournal(readable, mac)),
    listsReady: devices.ready,
    close() {
      closing ??= group.close().then(async () => {
        await devices.close();
        // Reads that were asked for are answered.
        await batch.idle();
        reading.close();
        writing.close();
      });
      return closing;
    },
  };
}

function tell(listener: (notice: CommitNotice) => void, what: CommitNotice, notice: OpenOptions['notice']): void {
  try {
    listener(what);
  } catch (error) {
    // What is committed stays committed, whatever a listener makes of it.
    notice?.(`a listener failed after a commit: ${error instanceof Error ? (error.stack ?? error.message) : error}`);
  }
}
