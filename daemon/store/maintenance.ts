/** Work on a whole registry, with or without a running daemon. What each engine implements beside `Store`. */
import type { JournalAnchor, JournalHead } from './queries.ts';
import type { Reader, Store } from './store.ts';

/** The result of reading the journal from end to end. */
export interface JournalReport {
  /** Number of entries read. */
  readonly entries: number;
  /**
   * One line for each changed, missing, inserted or moved entry, and for each user or device that is not what the entries say;
   * empty if there is none.
   */
  readonly problems: readonly string[];
  /** Facts that the entries of earlier versions cannot prove; absent if there is nothing. */
  readonly notCovered?: readonly string[];
}

/** Heads that the journal must contain. */
export interface Anchors {
  readonly heads: readonly JournalAnchor[];
  /** Whether the file of signed heads does not exist: a journal of this version has one. */
  readonly isFileMissing: boolean;
}

/** The result of checking a registry. */
export interface CheckReport extends JournalReport {
  /** Entries of `problems` that the journal reports: the rest of the database is intact. */
  readonly unproven: readonly string[];
  readonly devices: number;
}

/** A registry opened for reading only. */
export interface RegistryReader extends Reader {
  /** The head of the journal; null if its seal is missing or not genuine. */
  sealedHead(): Promise<JournalHead | null>;
  verifyJournal(anchors?: Anchors): Promise<JournalReport>;
  /** Idempotent. */
  close(): Promise<void>;
}

/** A copy of a backup, ready to replace the registry if its report has no problems. */
export interface StagedRestore {
  /** The copy: a database of SQLite. */
  readonly file: string;
  readonly report: CheckReport;
  /** Reads the copy. Closed by `install` and `discard`. */
  readonly reader: Reader;
  /** Gives the present registry a second name that ends with `label`, and returns it; null if there is no registry. */
  keepPresent(label: string): Promise<string | null>;
  /** Replaces the present registry in one step, durably. */
  install(): Promise<void>;
  /** Removes what `install` has not used. Must always be called. */
  discard(): Promise<void>;
}

/** All methods reject with `StoreFailure` if the registry cannot be opened. */
export interface StoreMaintenance {
  /** Only while no daemon is running. The caller closes the store. */
  openStore(): Promise<Store>;
  /** The caller closes the reader. */
  openReader(): Promise<RegistryReader>;
  /** Reads everything: storage, counters, journal. Takes seconds for a million devices. */
  check(anchors?: Anchors): Promise<CheckReport>;
}

/** Work on a registry that is a file. */
export interface FileMaintenance extends StoreMaintenance {
  /**
   * Copies the registry as it is at this moment into the new file `to` (0600). `complete` can add to the file before it gets its
   * name. Rejects if `to` exists.
   */
  backup(to: string, complete: (unfinished: string) => Promise<void>): Promise<void>;
  /** Copies the database `from` as it is at this moment into the new file `to` (0600), together with its write-ahead log. */
  copyDatabase(from: string, to: string): Promise<void>;
  /** Checks the database that `copy` writes to a path beside the registry; changes nothing. Only while no daemon is running. */
  stageRestore(copy: (to: string) => Promise<void>): Promise<StagedRestore>;
}
