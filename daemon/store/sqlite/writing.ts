import type { Change, DeviceSet, NewDevice } from '../store.ts';
import { Counters } from './counters.ts';
import type { Journal } from './journal.ts';
import type { Statements } from './statements.ts';

/** What a transaction did to devices, for those who keep more than the tables. */
export type DeviceDelta =
  | { readonly number: number; readonly added: NewDevice; readonly at: number }
  | { readonly number: number; readonly set: DeviceSet & { readonly lastUsedAt?: number } };

export type ChangeOf<K extends Change['kind']> = Extract<Change, { kind: K }>;

type Table = 'device' | 'user' | 'app' | 'backup';
const tables: readonly Table[] = ['device', 'user', 'app', 'backup'];

/** What the changes of a transaction write to and note down. There is one writer for a database, so the numbers that come next are kept here. */
export class Writing {
  readonly statements: Statements;
  readonly journal: Journal;
  readonly counters = new Counters();
  readonly last: Record<Table, number> = { device: 0, user: 0, app: 0, backup: 0 };
  /** When the last device was added. */
  lastCreated = 0;
  deltas: DeviceDelta[] = [];
  /** Users that were added or changed. */
  users = new Set<number>();

  constructor(statements: Statements, journal: Journal) {
    this.statements = statements;
    this.journal = journal;
  }

  /** Takes up where the database stands. Returns what is wrong with the end of the journal; null where nothing is. */
  reload(): string | null {
    for (const table of tables)
      this.last[table] = this.statements.value<number | null>(`SELECT max(number) FROM ${table}`) ?? 0;
    this.lastCreated =
      this.statements.value<number>('SELECT created_at FROM device WHERE number = ?', this.last.device) ?? 0;
    this.counters.clear();
    this.forget();
    return this.journal.reload();
  }

  forget(): void {
    this.deltas = [];
    this.users = new Set();
  }
}
