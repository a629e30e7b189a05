import type Database from 'better-sqlite3';
import { CommitListeners } from '../commit-listeners.ts';
import type { Store, SubjectStreams } from '../store.ts';
import type { Subjects } from '../subjects.ts';
import { GroupCommit } from '../write/group.ts';
import { SqliteEngine } from './engine.ts';
import { toFailure } from './failure.ts';
import { recordInstance } from './imprint.ts';
import { type OpenOptions, openReader, openWriter } from './open.ts';
import { ReadBatch } from './read-batch.ts';
import { readerOf, tableReads } from './reads.ts';
import { rewriteDatabase } from './rewrite.ts';
import { Statements } from './statements.ts';

/** How to open the store. */
export interface SqliteOptions extends OpenOptions {
  readonly subjects: Subjects;
  /** Secret that chains the entries of the journal; stored apart from the database. */
  readonly journalKey: Uint8Array;
  /** Other keys that the journal may end with. */
  readonly otherJournalKeys?: readonly Uint8Array[] | undefined;
  /** Id of the instance, which is noted in the database; not noted if absent. */
  readonly instance?: string | undefined;
  /** Lists of devices with plain SQL only: needs no memory for them, but is slow from some ten thousand devices on. */
  readonly plainLists?: boolean | undefined;
  /** Milliseconds of a time slice; the default of `TimeSlice` if absent. */
  readonly sliceMs?: number | undefined;
}

/** The store in an SQLite file. */
export interface SqliteStore extends Store {
  /** Resolves when lists of devices come from memory. Before, plain SQL returns the same, more slowly. */
  readonly listsReady: Promise<void>;
}

/**
 * Opens the store in a database file. See `openWriter` for what is created, upgraded and refused. Only one process may have
 * the database open for writing.
 */
export async function openSqliteStore(options: SqliteOptions): Promise<SqliteStore> {
  const writing = await openWriter(options);
  let reading: Database.Database | undefined;
  try {
    // A transaction may span several turns of the event loop: on their own connection, reads see only what is committed.
    reading = openReader(options.file);
    return assemble(options, writing, reading);
  } catch (error) {
    reading?.close();
    writing.close();
    throw toFailure(error, 'cannot open the database', options.file);
  }
}

function assemble(options: SqliteOptions, writing: Database.Database, reading: Database.Database): SqliteStore {
  const { subjects, file, journalKey, notice, sliceMs } = options;
  const writable = new Statements(writing);
  const readable = new Statements(reading);
  if (options.instance) recordInstance(writable, options.instance);
  const reads = new ReadBatch(reading, error => toFailure(error, 'cannot read', file));
  const listeners = new CommitListeners(notice);
  const opened = subjects.inSqlite.flatMap(({ open }) => open?.({ readable, ...options }) ?? []);
  const keys = [journalKey, ...(options.otherJournalKeys ?? [])] as const;
  const engine = new SqliteEngine(subjects, writable, keys, draft => {
    for (const one of opened) one.committed(draft);
    listeners.notify(subjects.noticeOf(draft));
  });
  const fault = engine.reload();
  if (fault) notice?.(`${fault}; "devmgr daemon audit --verify" lists them`);
  const group = new GroupCommit(subjects, engine, sliceMs);
  let closing: Promise<void> | null = null;
  const inMemory = opened.map(one => one.reads);
  return {
    ...readerOf(Object.assign(tableReads(subjects, readable), ...inMemory), read => reads.run(read)),
    ...(Object.assign({}, ...opened.map(({ streams }) => streams)) as SubjectStreams),
    commit: commit => group.add(commit),
    onCommit: listener => listeners.add(listener),
    behind: () => 0,
    eraseFreeSpace: () => rewriteDatabase(file),
    async health() {
      if (group.failure && !group.busy) group.noteProbe(engine.probe());
      if (group.closed) return { ready: false, detail: 'the store is closed' };
      return group.failure ? { ready: false, detail: group.failure.message } : { ready: true, detail: 'SQLite' };
    },
    listsReady: Promise.all(opened.map(({ ready }) => ready)).then(() => {}),
    close() {
      closing ??= group.close().then(async () => {
        for (const one of opened) await one.close();
        await reads.idle();
        reading.close();
        writing.close();
      });
      return closing;
    },
  };
}
