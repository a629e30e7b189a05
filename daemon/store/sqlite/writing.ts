import type { DeviceStatus, DeviceType } from '../../../src/contract/values.ts';
import type { DeviceSet, NewDevice } from '../../domain/device.ts';
import type { Change, ChangeResult } from '../commit.ts';
import type { EntryContext } from '../journal-end.ts';
import { Callers } from './callers.ts';
import type { Journal } from './journal.ts';
import { KeptGuards } from './kept-guards.ts';
import type { Statements } from './statements.ts';

type Kind = Change['kind'];
type ChangeOf<K extends Kind> = Extract<Change, { kind: K }>;

/** Writes a change and its journal entry. */
export type Apply<K extends Kind> = (change: ChangeOf<K>, context: EntryContext, writing: Writing) => ChangeResult;

/** How changes of these kinds are written. `check` throws `Conflict` if the record to change does not exist; it only reads. */
export type Writes<K extends Kind> = {
  readonly [P in K]: {
    readonly check?: (change: ChangeOf<P>, statements: Statements) => void;
    readonly apply: Apply<P>;
  };
};

/** What a transaction did to a device, for code that keeps more than the tables. */
export type DeviceDelta =
  | { readonly number: number; readonly added: NewDevice; readonly at: number }
  | { readonly number: number; readonly set: DeviceSet & { readonly lastUsedAt?: number } };

/** The tables whose rows are numbered from 1 without gaps. */
export const numberedTables = ['device', 'user', 'app', 'backup', 'service_token', 'passkey'] as const;
type Table = (typeof numberedTables)[number];

/**
 * What the changes of a transaction write to, and what they did so far. A database has a single writer, so the next numbers
 * are held in memory.
 */
export class Writing {
  readonly statements: Statements;
  readonly journal: Journal;
  readonly counters = new Counters();
  readonly callers = new Callers();
  readonly kept = new KeptGuards();
  readonly last: Record<Table, number> = { device: 0, user: 0, app: 0, backup: 0, service_token: 0, passkey: 0 };
  /** When the last device was added. */
  lastCreated = 0;
  deltas: DeviceDelta[] = [];
  /** Numbers of the users that were added or changed. */
  users = new Set<number>();
  /** Numbers of the service tokens that were added or revoked. */
  serviceTokens = new Set<number>();

  constructor(statements: Statements, journal: Journal) {
    this.statements = statements;
    this.journal = journal;
  }

  /** Reads the state of the database. Returns what is wrong with the end of the journal; null if nothing is. */
  reload(): string | null {
    for (const table of numberedTables)
      this.last[table] = this.statements.value<number | null>(`SELECT max(number) FROM ${table}`) ?? 0;
    this.lastCreated =
      this.statements.value<number>('SELECT created_at FROM device WHERE number = ?', this.last.device) ?? 0;
    this.counters.clear();
    this.callers.forget();
    this.kept.forget();
    this.forget();
    return this.journal.reload();
  }

  /** Starts the next transaction with nothing done. */
  forget(): void {
    this.deltas = [];
    this.users = new Set();
    this.serviceTokens = new Set();
  }
}

/** How many devices of each kind a transaction added or removed; `write` adds the sums to `device_count`. */
class Counters {
  readonly #changes = new Map<string, { manufacturer: string; type: DeviceType; status: DeviceStatus; by: number }>();

  add(manufacturer: string, type: DeviceType, status: DeviceStatus, by: 1 | -1): void {
    const key = `${type} ${status} ${manufacturer}`;
    const change = this.#changes.get(key);
    if (change) change.by += by;
    else this.#changes.set(key, { manufacturer, type, status, by });
  }

  write(statements: Statements): void {
    for (const { manufacturer, type, status, by } of this.#changes.values()) {
      if (by === 0) continue;
      statements.run(
        `INSERT OR IGNORE INTO device_count (manufacturer, device_type, status, count) VALUES (?, ?, ?, 0)`,
        manufacturer,
        type,
        status,
      );
      statements.run(
        `UPDATE device_count SET count = count + ? WHERE manufacturer = ? AND device_type = ? AND status = ?`,
        by,
        manufacturer,
        type,
        status,
      );
    }
    this.clear();
  }

  clear(): void {
    this.#changes.clear();
  }
}
