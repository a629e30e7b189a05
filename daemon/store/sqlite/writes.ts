/** Writes records, what subjects keep beside them, and the rest of a draft. */
import { LARGE_RESPONSE } from '../commit.ts';
import type { ChainedRow } from '../journal-end.ts';
import type { Subjects } from '../subjects.ts';
import type { AnyTable, StoreTable } from '../table.ts';
import { events, responses } from '../tables.ts';
import type { ReplacedKind, ReplacedRows } from '../write/documents.ts';
import type { Draft } from '../write/draft.ts';
import { Responses } from '../write/responses.ts';
import type { RowWriter } from '../write/source.ts';
import type { BesideRows } from './subject.ts';
import { rowsTogether, type SqliteTables } from './tables.ts';

/** A new row has a unique value of an existing row, found after rows were held: the transaction is repeated without `isLarge`. */
export class LateDuplicate extends Error {}

/** Writes records. Entries, and new plain rows of a large transaction, are held until enough of them are there to be written together. */
export class SqliteRowWriter implements RowWriter {
  /** Whether new rows are held. Then `insert` does not find a duplicate of a unique value: `LateDuplicate` reports it. */
  #isLarge = false;
  /** Whether a record had a unique value of another record. */
  hadDuplicate = false;
  readonly #tables: SqliteTables;
  readonly #replaced: readonly ReplacedKind[];
  readonly #all: readonly BesideRows[];
  readonly #beside: ReadonlyMap<unknown, BesideRows>;
  readonly #entered: readonly BesideRows[];
  /** Held rows, all of one table. */
  #held: object[] = [];
  #heldTable: AnyTable | null = null;
  #entries: ChainedRow[] = [];

  constructor(tables: SqliteTables, subjects: Subjects) {
    this.#tables = tables;
    this.#replaced = subjects.replaced;
    this.#all = subjects.inSqlite.flatMap(({ beside }) => beside?.(tables) ?? []);
    this.#beside = new Map(this.#all.flatMap(beside => (beside.table ? [[beside.table, beside] as const] : [])));
    this.#entered = this.#all.filter(({ entered }) => entered);
  }

  insert<R extends object>(table: StoreTable<R>, row: R): boolean {
    const beside = this.#beside.get(table);
    if (this.#isLarge && beside?.isPlain?.(row) && this.#tables.isInitial(table, row)) return this.#hold(table, row);
    this.#flushHeld();
    if (!this.#tables.insert(table, row)) {
      this.hadDuplicate = true;
      return false;
    }
    beside?.written?.(null, row);
    return true;
  }

  update<R extends object>(table: StoreTable<R>, before: R, after: R): void {
    this.#flushHeld();
    this.#tables.update(table, before, after);
    this.#beside.get(table)?.written?.(before, after);
  }

  entry(row: ChainedRow): void {
    for (const beside of this.#entered) beside.entered!(row);
    if (this.#entries.push(row) < rowsTogether) return;
    this.#tables.insertTogether(events, this.#entries);
    this.#entries = [];
  }

  /** Writes the rows of the table that are held. To be called before it is read. */
  beforeRead(table: unknown): void {
    if (table === this.#heldTable) this.#flushHeld();
  }

  /** Writes everything that is held, and what a draft has beside records and entries. To be called at the end of a transaction. */
  finish(draft: Draft): void {
    this.#flushHeld();
    for (const row of this.#entries) this.#tables.insert(events, row);
    this.#entries = [];
    for (const beside of this.#all) beside.end(draft);
    const answered = draft.made(Responses);
    if (answered) writeResponses(this.#tables, answered);
    for (const kind of this.#replaced) {
      const rows = draft.made(kind);
      if (rows) writeReplaced(this.#tables, rows);
    }
  }

  /** To be called when a transaction begins. Forgets what is held: the last one may have been undone. */
  begin(isLarge: boolean): void {
    this.#isLarge = isLarge;
    this.hadDuplicate = false;
    this.#held = [];
    this.#heldTable = null;
    this.#entries = [];
  }

  /** To be called after a transaction was undone. */
  forget(): void {
    for (const beside of this.#all) beside.forget?.();
  }

  #flushHeld(): void {
    if (this.#held.length === 0) return;
    for (const row of this.#held) if (!this.#tables.insert(this.#heldTable!, row)) throw new LateDuplicate();
    this.#held = [];
  }

  #hold(table: AnyTable, row: object): boolean {
    if (table !== this.#heldTable) {
      this.#flushHeld();
      this.#heldTable = table;
    }
    if (this.#held.push(row) < rowsTogether) return true;
    const added = this.#tables.insertTogether(table, this.#held);
    if (added < rowsTogether) throw new LateDuplicate();
    this.#held = [];
    return true;
  }
}

const boundTotal = `DELETE FROM response WHERE number IN (
  SELECT number FROM (
    SELECT number, sum(size) OVER (ORDER BY number DESC) AS total FROM response
    WHERE holder = ? AND size >= ${LARGE_RESPONSE})
  WHERE total > ?)`;

function writeResponses(tables: SqliteTables, { removed, stored, largeHolders }: Responses): void {
  for (const id of removed) tables.remove(responses, id);
  for (const response of stored) {
    // An expired response may still have the id. The new one has a new number.
    tables.remove(responses, response.id);
    tables.insert(responses, response);
  }
  for (const [holder, maxTotal] of largeHolders) tables.statements.run(boundTotal, holder, maxTotal);
}

function writeReplaced(tables: SqliteTables, { table, changed }: ReplacedRows): void {
  for (const [key, row] of changed) {
    if (row === null) tables.remove(table, key);
    else tables.put(table, row);
  }
}
