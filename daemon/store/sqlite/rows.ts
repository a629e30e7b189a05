import { type CopiedRow, type CopiedTable, keyColumn, type RowRange, type StoredRows } from '../copy.ts';
import type { StoredHead } from '../journal-end.ts';
import { readHead } from './journal.ts';
import type { Statements } from './statements.ts';

/** The rows of a database. The caller ensures that all reads are of one moment. */
export class SqliteRows implements StoredRows {
  protected readonly statements: Statements;

  constructor(statements: Statements) {
    this.statements = statements;
  }

  async head(): Promise<StoredHead | null> {
    return this.run(() => readHead(this.statements));
  }

  async columns(table: CopiedTable): Promise<readonly string[]> {
    return this.run(() => this.statements.values<string>('SELECT name FROM pragma_table_info(?) ORDER BY name', table));
  }

  async last(table: CopiedTable): Promise<number> {
    return this.run(() => this.statements.value<number | null>(`SELECT max(${keyColumn(table)}) FROM ${table}`) ?? 0);
  }

  async rows(table: CopiedTable, { columns, after, limit, among }: RowRange): Promise<readonly CopiedRow[]> {
    const key = keyColumn(table);
    const term = among ? `AND ${among.column} IN (SELECT value FROM json_each(?))` : '';
    const sql = `SELECT ${columns.join(', ')} FROM ${table} WHERE ${key} > ? ${term} ORDER BY ${key} LIMIT ?`;
    const values = among ? [after, JSON.stringify(among.values), limit] : [after, limit];
    return this.run(
      () =>
        this.statements
          .of(sql)
          .raw()
          .all(...values) as CopiedRow[],
    );
  }

  async texts(sql: string): Promise<readonly string[]> {
    return this.run(() => this.statements.values<string>(sql));
  }

  /** Runs all statements. */
  protected run<T>(work: () => T): T {
    return work();
  }
}
