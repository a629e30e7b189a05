import type { StoredHead } from '../journal-end.ts';
import type { Subjects } from '../subjects.ts';
import { nameOf } from './tables.ts';

/** The row that is the lock. `event` and `mac` are the end of the journal; the other columns have the last number of each table. */
export interface HeadRow {
  readonly event: number;
  readonly mac: string;
  /** Null before the first entry. */
  readonly seal: string | null;
  readonly at: number;
}

/** The columns with the last number of each table, quoted. */
export const lastColumns = ({ tables }: Subjects): readonly string[] => tables.map(nameOf);

/** The end of the journal as the row has it; null if the journal is empty. */
export const storedHead = ({ event: id, mac, seal }: HeadRow): StoredHead | null =>
  seal === null ? null : { id, mac, seal };
