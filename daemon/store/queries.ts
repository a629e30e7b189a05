/** Queries of a store: parts of lists, entries, and the end of the journal. */
import type { EntryType } from './journal.ts';

/** A part of a sorted list. */
export interface Window {
  readonly descending: boolean;
  readonly offset: number;
  readonly limit: number;
}

/** The rows of a window. */
export interface Rows<T> {
  readonly rows: readonly T[];
  /** Number of rows in the whole list. */
  readonly total: number;
}

/** Entries match if they match every field that is given. */
export interface EventFilter {
  /** Only entries with higher ids. */
  readonly after: number;
  /** Only entries with lower ids, and the highest ids first; if absent, the lowest ids come first. */
  readonly before?: number | undefined;
  /** Only entries up to this id. */
  readonly through?: number | undefined;
  readonly limit: number;
  readonly types?: readonly EntryType[] | undefined;
  /** All of the types are among those that `besideDevices` of the schema indexes. */
  readonly besideDevices?: true | undefined;
  /** Number of the device. */
  readonly device?: number | undefined;
  /** Name of the user. */
  readonly actor?: string | undefined;
  readonly requestId?: string | undefined;
  /** Inclusive. */
  readonly from?: number | undefined;
  /** Inclusive. */
  readonly to?: number | undefined;
}

/** Where the journal ends: the id of its last entry, and the code that authenticates it and all entries before it. */
export interface JournalHead {
  readonly id: number;
  readonly mac: string;
}

/** A head that was kept elsewhere: the journal must contain it. */
export interface JournalAnchor extends JournalHead {
  /** Its name in a report. */
  readonly source: string;
}
