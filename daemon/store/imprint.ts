import type { StoredHead } from './journal-end.ts';

/** What a database reports about the secrets that belong to it. */
export interface Imprint {
  /** The database, for messages. */
  readonly name: string;
  /** The end of the journal as it is stored; null if nothing was written yet. */
  readonly head: StoredHead | null;
  /** Id of the instance that clients know; null if no node has recorded one. */
  readonly instance: string | null;
  /** What `daemon copy` notes in a database until it is complete; null if it is. */
  readonly copying: string | null;
}

/** Names in the table `meta`. */
export const metaNames = { instance: 'instance', copying: 'copying' } as const;
