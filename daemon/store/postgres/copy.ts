import {
  type CopiedRow,
  type CopiedTable,
  type CopySource,
  type CopyTarget,
  keyColumn,
  type RowRange,
} from '../copy.ts';
import { metaNames } from '../imprint.ts';
import type { StoredHead } from '../journal-end.ts';
import { durable, takeDaemonLock } from './connections.ts';
import { type HeadRow, hourMs, numberedTables, storedHead } from './draft.ts';
import { StoreMisconfigured, toFailure, toOpenFailure } from './failure.ts';
import { type DatabaseAddress, loginFrom } from './login.ts';
import { checkServer, prepareDatabase, versionOf } from './migrate.ts';
import { migrations } from './migrations.ts';
import { type Result, Session } from './session.ts';
import { tagLines, tagsOf } from './tags.ts';

/** The other side may take long between two statements. */
const settings = { idleInTransactionMs: 3_600_000, lockMs: 60_000 };

const counters = [
  'DELETE FROM device_count',
  `INSERT INTO device_count (manufacturer, device_type, status, count)
     SELECT manufacturer, device_type, status, count(*) FROM device GROUP BY 1, 2, 3`,
  'DELETE FROM registration_count',
  `INSERT INTO registration_count (hour, count) SELECT created_at / ${hourMs}, count(*) FROM device GROUP BY 1`,
];
const seal = `UPDATE head SET event = $1, mac = $2, seal = $3, at = (SELECT coalesce(max(at), 0) FROM event),
  ${numberedTables.map(table => `"${table}" = (SELECT coalesce(max(number), 0) FROM "${table}")`).join(', ')}`;

class PostgresCopy implements CopySource {
  protected readonly session: Session;
  readonly #types = new Map<CopiedTable, ReadonlyMap<string, string>>();

  constructor(session: Session) {
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

  async rows(table: CopiedTable, { columns, after, limit }: RowRange): Promise<readonly CopiedRow[]> {
    const key = keyColumn(table);
    const { rows } = await this.run(
      `SELECT ${columns.join(', ')} FROM "${table}" WHERE ${key} > $1 ORDER BY ${key} LIMIT $2`,
      [after, limit],
    );
    return rows.map(row => columns.map(column => exchanged(column, row[column])));
  }

  close(): Promise<void> {
    return this.session.close();
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

  protected async run(sql: string, values: readonly unknown[] = []): Promise<Result> {
    try {
      return await this.session.runOnce(sql, values);
    } catch (error) {
      throw toFailure(error, 'the copy failed');
    }
  }
}

class PostgresCopyTarget extends PostgresCopy implements CopyTarget {
  async copying(): Promise<string | null> {
    const { rows } = await this.run('SELECT value FROM meta WHERE name = $1', [metaNames.copying]);
    return (rows[0]?.value as string | undefined) ?? null;
  }

  async begin(source: string): Promise<void> {
    await this.run('INSERT INTO meta (name, value) VALUES ($1, $2)', [metaNames.copying, source]);
  }

  async add(table: CopiedTable, columns: readonly string[], rows: readonly CopiedRow[]): Promise<void> {
    const types = await this.types(table);
    const arrays = columns.map((column, i) => `$${i + 1}::${types.get(column)}[]`).join(', ');
    const values = columns.map((column, i) => rows.map(row => stored(column, types.get(column), row[i]!)));
    await this.run(`INSERT INTO "${table}" (${columns.join(', ')}) SELECT * FROM unnest(${arrays})`, values);
  }

  async complete(head: StoredHead | null): Promise<void> {
    await this.run('BEGIN');
    try {
      for (const sql of counters) await this.run(sql);
      await this.run(seal, [head?.id ?? 0, head?.mac ?? '', head?.seal ?? null]);
      await this.run('COMMIT');
    } catch (error) {
      await this.run('ROLLBACK').catch(() => {});
      throw error;
    }
    await this.run('ANALYZE');
  }

  async finish(): Promise<void> {
    await this.run('DELETE FROM meta WHERE name = $1', [metaNames.copying]);
  }
}

function exchanged(column: string, value: unknown): number | string | null {
  if (column === 'tags') return value === null ? null : JSON.stringify(tagsOf(value as string));
  return typeof value === 'boolean' ? Number(value) : (value as number | string | null);
}

function stored(column: string, type: string | undefined, value: number | string | null): unknown {
  if (column === 'tags') return value === null ? null : tagLines(JSON.parse(value as string));
  return type === 'boolean' ? value === 1 : value;
}

/** Rejects if the database is not a registry of this version, or if a daemon uses it. */
export const openCopySource = (options: DatabaseAddress): Promise<CopySource> =>
  opened(options, async (session, login) => {
    await checkServer(session, login.address);
    if ((await versionOf(session, login.address, migrations.length)) < migrations.length)
      throw new StoreMisconfigured(
        `${login.address.text} has no registry of this version`,
        'start the daemon once: it creates or upgrades the registry',
      );
    await takeDaemonLock(session, login.address);
    // All reads see this moment.
    await session.runOnce('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    return new PostgresCopy(session);
  });

/** Creates the schema if there is none. No daemon can use the database meanwhile. */
export const openCopyTarget = (options: DatabaseAddress): Promise<CopyTarget> =>
  opened(options, async (session, { address }) => {
    await prepareDatabase(session, { address, notice: () => {} });
    await takeDaemonLock(session, address);
    await session.runOnce(durable);
    return new PostgresCopyTarget(session);
  });

async function opened<T>(
  options: DatabaseAddress,
  use: (session: Session, login: ReturnType<typeof loginFrom>) => Promise<T>,
): Promise<T> {
  const login = loginFrom(options);
  let session: Session | undefined;
  try {
    session = await Session.open(login, settings);
    return await use(session, login);
  } catch (error) {
    await session?.close();
    throw toOpenFailure(error, login.address.text);
  }
}
