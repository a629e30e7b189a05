import type { StoredHead } from './journal-end.ts';

/** Facts that a database stores about the secrets that belong to it. */
export interface Imprint {
  /** The database, for messages. */
  readonly name: string;
  /** The end of the journal as it is stored; null if nothing was written yet. */
  readonly head: StoredHead | null;
  /** Id of the instance that clients know; null if no node has recorded one. */
  readonly instance: string | null;
  /** The origin that `daemon copy` stores in an incomplete database; null if it is complete. */
  readonly copying: string | null;
}

/** Names in the table `meta`. */
export const metaNames = { instance: 'instance', copying: 'copying' } as const;
