import { type CopiedRow, type CopiedTable, keyColumn, type RowRange, type StoredRows } from '../copy.ts';
import type { StoredHead } from '../journal-end.ts';
import { type HeadRow, storedHead } from './head.ts';
import type { DatabaseSession, Result } from './session.ts';
import { tagsOf } from './tags.ts';

/** The rows of a database. The caller ensures that all reads are of one moment. */
export class PostgresRows implements StoredRows {
  protected readonly session: DatabaseSession;
  readonly #types = new Map<CopiedTable, ReadonlyMap<string, string>>();

  constructor(session: DatabaseSession) {
    this.session = session;
  }

  async head(): Promise<StoredHead | null> {
    return storedHead((await this.run('SELECT * FROM head')).rows[0] as unknown as HeadRow);
  }

  async columns(table: CopiedTable): Promise<readonly string[]> {
    return [...(await this.types(table)).keys()];
  }

  async last(table: CopiedTable): Promise<number> {
    const { rows } = await this.run(`SELECT coalesce(max(${keyColumn(table)}), 0) AS last FROM "${table}"`);
    return rows[0]!.last as number;
  }

  async rows(table: CopiedTable, { columns, after, limit, among }: RowRange): Promise<readonly CopiedRow[]> {
    const key = keyColumn(table);
    const term = among ? `AND ${among.column} = ANY($3)` : '';
    const sql = `SELECT ${columns.join(', ')} FROM "${table}" WHERE ${key} > $1 ${term} ORDER BY ${key} LIMIT $2`;
    const values = [after, limit, ...(among ? [among.values] : [])];
    const rows = await this.failing(() => this.session.runForValues(sql, values));
    return rows.map(row => columns.map((column, i) => exchanged(column, row[i])));
  }

  async texts(sql: string): Promise<readonly string[]> {
    const rows = await this.failing(() => this.session.runForValues(sql, []));
    return rows.map(([text]) => text as string);
  }

  /** Types of the columns of a table, by name. */
  protected async types(table: CopiedTable): Promise<ReadonlyMap<string, string>> {
    const known = this.#types.get(table);
    if (known) return known;
    const { rows } = await this.run(
      `SELECT column_name::text AS name, data_type::text AS type FROM information_schema.columns
       WHERE table_schema = current_schema() AND table_name = $1 ORDER BY column_name`,
      [table],
    );
    const types = new Map(rows.map(({ name, type }) => [name as string, type as string]));
    this.#types.set(table, types);
    return types;
  }

  protected run(sql: string, values: readonly unknown[] = []): Promise<Result> {
    return this.failing(() => this.session.runOnce(sql, values));
  }

  /** Runs all statements. */
  protected failing<T>(work: () => Promise<T>): Promise<T> {
    return work();
  }
}

function exchanged(column: string, value: unknown): number | string | null {
  if (column === 'tags') return value === null ? null : JSON.stringify(tagsOf(value as string));
  return typeof value === 'boolean' ? Number(value) : (value as number | string | null);
}
