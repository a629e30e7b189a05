import { StoreFailure } from '../commit.ts';
import {
  type CopiedRow,
  type CopiedTable,
  type CopySource,
  type CopyTarget,
  copiedTables,
  type Replacement,
} from '../copy.ts';
import { type DatabaseAddress, StoreMisconfigured, type SubjectsAt } from '../database.ts';
import { metaNames } from '../imprint.ts';
import type { StoredHead } from '../journal-end.ts';
import type { Subjects } from '../subjects.ts';
import type { Address } from './address.ts';
import { durable, unlimited } from './connections.ts';
import { takeDaemonLock } from './daemon-lock.ts';
import { toFailure, toOpenFailure } from './failure.ts';
import { lastColumns } from './head.ts';
import { loginFrom } from './login.ts';
import { checkServer, currentVersion, prepareDatabase } from './migrate.ts';
import { migrations } from './migrations.ts';
import { PostgresRows } from './rows.ts';
import { type DatabaseLogin, DatabaseSession } from './session.ts';
import { tagLines } from './tags.ts';

/** The other side may take long between two statements. */
const settings = { idleInTransactionMs: 3_600_000, lockMs: 60_000 };

const seal = (
  subjects: Subjects,
) => `UPDATE head SET event = $1, mac = $2, seal = $3, at = (SELECT coalesce(max(at), 0) FROM event),
  ${lastColumns(subjects)
    .map(name => `${name} = (SELECT coalesce(max(number), 0) FROM ${name})`)
    .join(', ')}`;

class PostgresCopy extends PostgresRows implements CopySource {
  close(): Promise<void> {
    return this.session.close();
  }

  protected override async failing<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw toFailure(error, 'the copy failed');
    }
  }
}

class PostgresCopyTarget extends PostgresCopy implements CopyTarget {
  readonly #subjects: Subjects;

  constructor(session: DatabaseSession, subjects: Subjects) {
    super(session);
    this.#subjects = subjects;
  }

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
      await this.derive(head);
      await this.run('COMMIT');
    } catch (error) {
      await this.run('ROLLBACK').catch(() => {});
      throw error;
    }
    await this.run('ANALYZE');
  }

  /** Makes what follows from the rows. */
  protected async derive(head: StoredHead | null): Promise<void> {
    for (const { derived } of this.#subjects.stated('postgres')) for (const sql of derived ?? []) await this.run(sql);
    for (const table of ['proof', 'document'])
      await this.run(
        `SELECT setval(pg_get_serial_sequence('${table}', 'number'), (SELECT coalesce(max(number), 0) + 1 FROM ${table}), false)`,
      );
    await this.run(seal(this.#subjects), [head?.id ?? 0, head?.mac ?? '', head?.seal ?? null]);
  }

  async finish(): Promise<void> {
    await this.run('DELETE FROM meta WHERE name = $1', [metaNames.copying]);
  }
}

/**
 * A registry that takes the place of the present one in a single transaction: daemons see one or the other. `head` and `meta` are written
 * last and stay readable, so that a daemon that is started during the copy finds the registry in use and does not wait.
 */
class PostgresReplacement extends PostgresCopyTarget implements Replacement {
  readonly #address: Address;

  constructor(session: DatabaseSession, subjects: Subjects, address: Address) {
    super(session, subjects);
    this.#address = address;
  }

  async prepare(): Promise<void> {
    await prepareDatabase(this.session, { address: this.#address, notice: () => {} });
  }

  override async begin(): Promise<void> {
    await this.run('BEGIN');
    // The journal is protected against its own database user, which may disable that.
    await this.run('ALTER TABLE event DISABLE TRIGGER event_never_changes');
    // A stored response would acknowledge a change that the restored registry does not have.
    await this.run(
      `TRUNCATE response, device_mark, device_before, ${copiedTables.map(table => `"${table}"`).join(', ')}`,
    );
    await this.run('ALTER TABLE event ENABLE TRIGGER event_never_changes');
  }

  override async complete(head: StoredHead | null): Promise<void> {
    await this.derive(head);
  }

  override async finish(): Promise<void> {
    await super.finish();
    const { tag } = await this.run('COMMIT');
    if (tag !== 'COMMIT') throw new StoreFailure('the restore failed: the server has undone it');
    await this.run('ANALYZE');
  }
}

function stored(column: string, type: string | undefined, value: number | string | null): unknown {
  if (column === 'tags') return value === null ? null : tagLines(JSON.parse(value as string));
  return type === 'boolean' ? value === 1 : value;
}

/** Rejects if the database is not a registry of this version, or if a daemon uses it. */
export const openCopySource = (options: DatabaseAddress): Promise<CopySource> =>
  opened(options, async (session, login) => {
    await checkVersion(session, login);
    await takeDaemonLock(session, login.address);
    return atThisMoment(session);
  });

/** Rejects if the database is not a registry of this version. Daemons may write to it at the same time. */
export const openSnapshot = (options: DatabaseAddress): Promise<CopySource> =>
  opened(options, async (session, login) => {
    await checkVersion(session, login);
    return atThisMoment(session);
  });

/** A daemon can use a newer schema that adds something; a copy would leave that out. */
const newer = ({ text }: DatabaseLogin['address']) =>
  new StoreMisconfigured(`${text} has a newer schema than this devmgr`, 'use the newer devmgr');

async function checkVersion(session: DatabaseSession, { address }: Pick<DatabaseLogin, 'address'>): Promise<void> {
  if ((await currentVersion(session, address)) > migrations.length) throw newer(address);
}

/** All reads see this moment. */
async function atThisMoment(session: DatabaseSession): Promise<CopySource> {
  await session.runOnce('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  return new PostgresCopy(session);
}

/** Creates the schema if there is none. No daemon can use the database until the copy ends. */
export const openCopyTarget = (options: SubjectsAt): Promise<CopyTarget> =>
  opened(options, async (session, { address }) => {
    await options.subjects.load('postgres');
    await prepareDatabase(session, { address, notice: () => {} });
    await checkVersion(session, { address });
    await takeDaemonLock(session, address);
    await session.runOnce(durable);
    return new PostgresCopyTarget(session, options.subjects);
  });

/**
 * Takes the database from all daemons, to replace its registry: nothing is changed until `finish`, and not at all if the process ends
 * before.
 */
export const openReplacement = (options: SubjectsAt): Promise<Replacement> =>
  opened(options, async (session, { address }) => {
    await options.subjects.load('postgres');
    await checkServer(session, address);
    await takeDaemonLock(session, address);
    await session.runOnce(durable);
    return new PostgresReplacement(session, options.subjects, address);
  });

async function opened<T>(
  options: DatabaseAddress,
  use: (session: DatabaseSession, login: DatabaseLogin) => Promise<T>,
): Promise<T> {
  const login = loginFrom(options);
  let session: DatabaseSession | undefined;
  try {
    session = await DatabaseSession.open(login, settings);
    await session.runOnce(unlimited);
    return await use(session, login);
  } catch (error) {
    await session?.close();
    throw toOpenFailure(error, login.address.text);
  }
}
