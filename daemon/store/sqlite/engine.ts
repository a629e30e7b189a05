import type Database from 'better-sqlite3';
import { StoreFailure } from '../commit.ts';
import { JournalEnd } from '../journal-end.ts';
import type { Subjects } from '../subjects.ts';
import { Draft, type LastNumbers } from '../write/draft.ts';
import type { Batch, Engine, FailedTransaction } from '../write/group.ts';
import { Unstorable } from '../write/group.ts';
import { isOutage, toFailure } from './failure.ts';
import { continueJournal, writeHead } from './journal.ts';
import { SqliteSource } from './source.ts';
import type { Statements } from './statements.ts';
import { rowsTogether, SqliteTables } from './tables.ts';
import { LateDuplicate, SqliteRowWriter } from './writes.ts';

/** Called after a transaction has committed and before the promises of its commits resolve. */
type OnCommit = (draft: Draft) => void;

/** The transactions of a database. It has a single writer, so the next numbers and the end of the journal are held in memory. */
export class SqliteEngine implements Engine {
  readonly #db: Database.Database;
  readonly #subjects: Subjects;
  readonly #tables: SqliteTables;
  readonly #source: SqliteSource;
  readonly #writer: SqliteRowWriter;
  readonly #end: JournalEnd;
  readonly #committed: OnCommit;
  #last: LastNumbers = {};
  /** The rows held in memory are those of a transaction that was undone: if the disk failed, reading the real state may have failed too. */
  #isStale = false;
  /** Whether a record of the last transaction had a unique value of another record: the next one may have such a record, too. */
  #hadDuplicate = false;

  /** `keys`: see `JournalEnd`. To be reloaded before its first use. */
  constructor(
    subjects: Subjects,
    statements: Statements,
    keys: readonly [Uint8Array, ...Uint8Array[]],
    committed: OnCommit,
  ) {
    this.#db = statements.db;
    this.#subjects = subjects;
    this.#tables = new SqliteTables(statements);
    this.#writer = new SqliteRowWriter(this.#tables, subjects);
    this.#source = new SqliteSource(subjects, this.#tables, table => this.#writer.beforeRead(table));
    this.#end = new JournalEnd(keys);
    this.#committed = committed;
  }

  /** Reads the state of the database. Returns what is wrong with the end of the journal; null if nothing is. */
  reload(): string | null {
    const { statements } = this.#tables;
    const lastOf = (name: string) => statements.value<number | null>(`SELECT max(number) FROM ${name}`) ?? 0;
    this.#last = Object.fromEntries(this.#subjects.tables.map(({ name }) => [name, lastOf(name)]));
    this.#writer.forget();
    this.#source.forget();
    const fault = continueJournal(statements, this.#end);
    this.#isStale = false;
    return fault;
  }

  async transaction(batch: Batch): Promise<boolean> {
    const draft = await this.#commit(batch);
    if (draft.isEmpty) return false;
    this.#finished(draft);
    return true;
  }

  async #commit(batch: Batch): Promise<Draft> {
    try {
      return await this.#attempt(batch, !this.#hadDuplicate && batch.size >= rowsTogether);
    } catch (error) {
      this.#rollback();
      if (!(causeOf(error) instanceof LateDuplicate)) throw error;
    }
    try {
      return await this.#attempt(batch, false);
    } catch (error) {
      this.#rollback();
      throw error;
    }
  }

  async #attempt(batch: Batch, isLarge: boolean): Promise<Draft> {
    if (this.#isStale) this.reload();
    this.#writer.begin(isLarge);
    this.#tables.statements.run('BEGIN IMMEDIATE');
    const draft = new Draft({
      source: this.#source,
      last: this.#last,
      end: this.#end,
      at: null,
      writer: this.#writer,
    });
    await batch.apply(draft);
    if (!draft.isEmpty) this.#write(draft);
    this.#tables.statements.run('COMMIT');
    this.#hadDuplicate = this.#writer.hadDuplicate;
    return draft;
  }

  failed(error: unknown): FailedTransaction {
    const cause = causeOf(error);
    return { failure: this.#toFailure(cause), isOutage: this.#isStale || isOutage(cause), isShared: false };
  }

  closed(): StoreFailure {
    return new StoreFailure('the store is closed');
  }

  /** Tries a write that changes nothing. Returns why it failed; null if it did not. */
  probe(): StoreFailure | null {
    try {
      this.#db.exec(`BEGIN IMMEDIATE; INSERT INTO meta (name, value) VALUES ('probe', '0')
        ON CONFLICT DO UPDATE SET value = 1 - value; COMMIT`);
      return null;
    } catch (error) {
      this.#rollback();
      return this.#toFailure(error);
    }
  }

  #write(draft: Draft): void {
    this.#writer.finish(draft);
    if (draft.hasEntries) writeHead(this.#tables.statements, draft.seal());
  }

  #finished(draft: Draft): void {
    this.#last = draft.last;
    this.#source.forgetChanged(draft);
    if (draft.hasEntries) this.#committed(draft);
  }

  #rollback(): void {
    this.#isStale = true;
    try {
      // Some errors have already ended the transaction.
      if (this.#db.inTransaction) this.#db.exec('ROLLBACK');
      this.reload();
    } catch {
      // The next transaction reads the state again.
    }
  }

  #toFailure(error: unknown): StoreFailure {
    return toFailure(error, 'nothing was written', this.#db.name);
  }
}

const causeOf = (error: unknown): unknown => (error instanceof Unstorable ? error.cause : error);
