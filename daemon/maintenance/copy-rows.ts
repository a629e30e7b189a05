/** Moves the rows of a registry, and compares what arrived. Memory does not grow with the registry. */
import { createHash } from 'node:crypto';
import { StoreFailure } from '../store/commit.ts';
import { type CopiedTable, type CopySource, type CopyTarget, copiedTables, keyColumn } from '../store/copy.ts';

/** Rows read and written at a time. */
const BATCH = 1000;

/** Copied part of a table. */
interface CopiedRows {
  readonly table: CopiedTable;
  readonly columns: readonly string[];
  readonly rows: number;
  /** SHA-256 of all its rows. */
  readonly digest: string;
}

/** Takes the progress of a step: rows done, and the last key. */
export type CopyProgress = (step: string, done: number, total: number) => void;

/**
 * Copies all rows, makes what follows from them, and reads them again. Resolves with the tables whose rows in the target are not those
 * of the source.
 */
export async function transferRows(
  source: CopySource,
  target: CopyTarget,
  progress: CopyProgress,
): Promise<CopiedTable[]> {
  const copied = await copyRows(source, target, progress);
  await target.complete(await source.head());
  const differing = await differingTables(target, copied, progress);
  progress('', 0, 0);
  return differing;
}

/** Copies the tables. Rows that an interrupted copy has written are read again for the digest, and not written again. */
async function copyRows(source: CopySource, target: CopyTarget, progress: CopyProgress): Promise<CopiedRows[]> {
  const copied: CopiedRows[] = [];
  for (const table of copiedTables) {
    const columns = await source.columns(table);
    const known = new Set(await target.columns(table));
    const missing = columns.find(column => !known.has(column));
    if (missing) throw new StoreFailure(`the target has no column ${missing} in ${table}`);
    const present = await target.last(table);
    const add = async (rows: Rows) => {
      const fresh = rows.filter(row => keyOf(table, columns, row) > present);
      if (fresh.length > 0) await target.add(table, columns, fresh);
    };
    copied.push({ table, columns, ...(await readTable(source, table, columns, progress, add)) });
  }
  return copied;
}

async function differingTables(
  target: CopySource,
  copied: readonly CopiedRows[],
  progress: CopyProgress,
): Promise<CopiedTable[]> {
  const differing: CopiedTable[] = [];
  for (const { table, columns, rows, digest } of copied) {
    const found = await readTable(target, table, columns, (_, done, total) =>
      progress(`checking ${table}`, done, total),
    );
    if (found.digest !== digest || found.rows !== rows) differing.push(table);
  }
  return differing;
}

type Rows = Awaited<ReturnType<CopySource['rows']>>;

const keyOf = (table: CopiedTable, columns: readonly string[], row: Rows[number]): number =>
  row[columns.indexOf(keyColumn(table))] as number;

async function readTable(
  source: CopySource,
  table: CopiedTable,
  columns: readonly string[],
  progress: CopyProgress,
  use: (rows: Rows) => Promise<void> = async () => {},
): Promise<{ rows: number; digest: string }> {
  const hash = createHash('sha256');
  const total = await source.last(table);
  let rows = 0;
  for (let after = 0; ; ) {
    const batch = await source.rows(table, { columns, after, limit: BATCH });
    if (batch.length === 0) break;
    hash.update(batch.map(row => `${JSON.stringify(row)}\n`).join(''));
    await use(batch);
    rows += batch.length;
    after = keyOf(table, columns, batch.at(-1)!);
    progress(table, rows, total);
  }
  return { rows, digest: hash.digest('hex') };
}
