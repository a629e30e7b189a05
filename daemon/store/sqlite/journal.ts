import type { Entry, JournalAdd, JournalRotate } from '../../domain/journal.ts';
import { noEntries } from '../chain.ts';
import { type ChainedRow, type EntryContext, JournalEnd, type StoredHead } from '../journal-end.ts';
import type { Statements } from './statements.ts';
import type { Writes } from './writing.ts';

const insert = `INSERT INTO event (id, at, type, device, subject, actor, request_id, data, detail, mac)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** Writes the journal. Call `append` and `seal` inside a transaction, and `reload` after a rollback. */
export class Journal {
  readonly #statements: Statements;
  readonly #end: JournalEnd;

  /** `keys`: see `JournalEnd`. */
  constructor(statements: Statements, keys: readonly [Uint8Array, ...Uint8Array[]]) {
    this.#statements = statements;
    this.#end = new JournalEnd(keys);
  }

  get lastId(): number {
    return this.#end.id;
  }

  /** Whether entries were written since the last seal. */
  get unsealed(): boolean {
    return this.#end.unsealed;
  }

  /** Reads the state of the database. Returns what is wrong with the end of the journal; null if nothing is. */
  reload(): string | null {
    const head = readHead(this.#statements);
    const last = this.#statements.value<number | null>('SELECT max(id) FROM event') ?? 0;
    const genuine = head === null ? last === 0 && !hasRecords(this.#statements) : this.#end.isGenuine(head);
    // If the seal is broken, the next entry must not hide the damage: its chain starts with a value that verification reports.
    const mac = genuine ? (head ?? noEntries).mac : 'broken';
    this.#end.continueAt(head, { id: Math.max(last, head?.id ?? 0), mac });
    if (!genuine) return `the seal of the journal does not match its key: entries or the key were changed`;
    return this.lastId === last ? null : `the journal ends at entry ${last}, its seal says ${this.lastId}`;
  }

  append(context: EntryContext, entry: Entry, device: number | null, subject: number | null): void {
    this.#insert(this.#end.append(context, entry, device, subject));
  }

  /** Writes the entry with the present key and continues with `key`; does nothing if that is the present one. */
  rotate(context: EntryContext, entry: Entry, key: Uint8Array): void {
    const row = this.#end.rotate(context, entry, key);
    if (row) this.#insert(row);
  }

  seal(): void {
    this.#statements.run(
      `INSERT INTO meta (name, value) VALUES ('journal', ?) ON CONFLICT DO UPDATE SET value = excluded.value`,
      JSON.stringify(this.#end.seal()),
    );
  }

  #insert({ id, at, type, device, subject, actor, request_id, data, detail, mac }: ChainedRow): void {
    this.#statements.of(insert).run(id, at, type, device, subject, actor, request_id, data, detail, mac);
  }
}

/** Null if the journal was never written. */
export function readHead(statements: Statements): StoredHead | null {
  const text = statements.value<string>(`SELECT value FROM meta WHERE name = 'journal'`);
  return text === undefined ? null : (JSON.parse(text) as StoredHead);
}

/** Whether there is anything that the journal must account for: a registry that was never used has no journal. */
export function hasRecords(statements: Statements): boolean {
  return statements.value('SELECT 1 FROM user UNION ALL SELECT 1 FROM device LIMIT 1') !== undefined;
}

/** How entries without a change are written. */
export const journalWrites: Writes<(JournalAdd | JournalRotate)['kind']> = {
  'journal.rotate': {
    apply({ key, entry }, context, { journal }) {
      journal.rotate(context, entry, key);
      return { kind: 'done' };
    },
  },
  'journal.add': {
    apply({ entry, device, subject }, context, { journal }) {
      journal.append(context, entry, device, subject);
      return { kind: 'done' };
    },
  },
};
