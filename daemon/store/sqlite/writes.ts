/** Writes records, what only this engine keeps beside them (tags and marks of devices by which lists find them), and the rest of a draft. */
import { proofBounds } from '../../../src/contract/limits.ts';
import type { Tags } from '../../../src/contract/tags.ts';
import { type DeviceRecord, hasTags, noTags } from '../../domain/device.ts';
import { marksOf } from '../../domain/proof.ts';
import { Proofs } from '../../proofs/rules.ts';
import { LARGE_RESPONSE } from '../commit.ts';
import type { ChainedRow } from '../journal-end.ts';
import type { StoreTable } from '../table.ts';
import { devices, events, proofs, responses } from '../tables.ts';
import { type ReplacedRows, replacedRows } from '../write/documents.ts';
import type { Draft } from '../write/draft.ts';
import { Responses } from '../write/responses.ts';
import type { RowWriter } from '../write/source.ts';
import type { Statements } from './statements.ts';
import { rowsTogether, type SqliteTables } from './tables.ts';

/** A serial number was registered before, and whether one was is known too late: the transaction has to be made again, without `isLarge`. */
export class LateDuplicate extends Error {}

/** Writes records. Entries, and new devices of a large transaction, are held until enough of them are there to be written together. */
export class SqliteRowWriter implements RowWriter {
  /** Whether new devices are held. Then `insert` does not know whether one has the serial number of another: `LateDuplicate` does. */
  #isLarge = false;
  /** Whether a record had what is unique of another one. */
  hadDuplicate = false;
  readonly #tables: SqliteTables;
  #devices: object[] = [];
  #entries: ChainedRow[] = [];

  constructor(tables: SqliteTables) {
    this.#tables = tables;
  }

  insert<R extends object>(table: StoreTable<R>, row: R): boolean {
    if (this.#isLarge && isPlainDevice(table, row) && this.#tables.isInitial(table, row)) return this.#hold(row);
    this.flushDevices();
    if (!this.#tables.insert(table, row)) {
      this.hadDuplicate = true;
      return false;
    }
    if (isDevice(table)) setIndexed(this.#tables.statements, null, row as never);
    return true;
  }

  update<R extends object>(table: StoreTable<R>, before: R, after: R): void {
    this.flushDevices();
    this.#tables.update(table, before, after);
    if (isDevice(table)) setIndexed(this.#tables.statements, before as never, after as never);
  }

  entry(row: ChainedRow): void {
    if (this.#entries.push(row) < rowsTogether) return;
    this.#tables.insertTogether(events, this.#entries);
    this.#entries = [];
  }

  /** Writes the devices that are held. To be called before the database is read. */
  flushDevices(): void {
    if (this.#devices.length === 0) return;
    for (const row of this.#devices) if (!this.#tables.insert(devices, row as DeviceRecord)) throw new LateDuplicate();
    this.#devices = [];
  }

  /** Writes what is held. To be called at the end of a transaction. */
  flush(): void {
    this.flushDevices();
    for (const row of this.#entries) this.#tables.insert(events, row);
    this.#entries = [];
  }

  /** To be called when a transaction begins. Forgets what is held: the last one may have been undone. */
  begin(isLarge: boolean): void {
    this.#isLarge = isLarge;
    this.hadDuplicate = false;
    this.#devices = [];
    this.#entries = [];
  }

  #hold(row: object): boolean {
    if (this.#devices.push(row) < rowsTogether) return true;
    const added = this.#tables.insertTogether(devices, this.#devices as DeviceRecord[]);
    if (added < rowsTogether) throw new LateDuplicate();
    this.#devices = [];
    return true;
  }
}

/** A device without rows of other tables. */
const isPlainDevice = (table: unknown, row: object): boolean =>
  isDevice(table) && !hasTags((row as DeviceRecord).tags) && (row as DeviceRecord).proof === null;
const isDevice = (table: unknown) => table === devices;

/** Writes what a draft has beside records and entries. */
export function writeRest(tables: SqliteTables, draft: Draft): void {
  writeCounts(tables.statements, draft);
  writeTallies(tables.statements, draft);
  writeResponses(tables, draft.part(Responses));
  writeProofs(tables, draft.part(Proofs), draft.at);
  for (const kind of replacedRows) writeReplaced(tables, draft.part<ReplacedRows>(kind));
}

type IndexedDevice = Pick<DeviceRecord, 'number' | 'tags' | 'proof'>;

function setIndexed(
  statements: Statements,
  before: IndexedDevice | null,
  { number, tags, proof }: IndexedDevice,
): void {
  const [oldTags, oldProof] = [before?.tags ?? noTags, before?.proof ?? null];
  if (tags !== oldTags) setTags(statements, number, oldTags, tags);
  if (proof !== oldProof) setMarks(statements, number, marksOf(oldProof), marksOf(proof));
}

function setTags(statements: Statements, device: number, before: Tags, after: Tags): void {
  for (const [name, value] of without(before, after))
    statements.run('DELETE FROM device_tag WHERE name = ? AND value = ? AND device = ?', name, value, device);
  for (const [name, value] of without(after, before))
    statements.run('INSERT INTO device_tag (name, value, device) VALUES (?, ?, ?)', name, value, device);
}

/** The tags that are not in `others` with the same value. */
const without = (tags: Tags, others: Tags) => Object.entries(tags).filter(([name, value]) => others[name] !== value);

function setMarks(statements: Statements, device: number, before: readonly string[], after: readonly string[]): void {
  for (const mark of before)
    if (!after.includes(mark)) statements.run('DELETE FROM device_mark WHERE mark = ? AND device = ?', mark, device);
  for (const mark of after)
    statements.run('INSERT OR IGNORE INTO device_mark (mark, device) VALUES (?, ?)', mark, device);
}

const addCount = `INSERT INTO device_count (count, manufacturer, device_type, status) VALUES (?, ?, ?, ?)`;
const changeCount = `UPDATE device_count SET count = count + ? WHERE manufacturer = ? AND device_type = ? AND status = ?`;

function writeCounts(statements: Statements, { counts }: Draft): void {
  for (const { manufacturer, deviceType, status, by } of counts) {
    const { changes } = statements.run(changeCount, by, manufacturer, deviceType, status);
    if (changes === 0) statements.run(addCount, by, manufacturer, deviceType, status);
  }
}

const addTally = `INSERT INTO tally (subject, value, status, count) VALUES (?, ?, ?, ?)
  ON CONFLICT (subject, value, status) DO UPDATE SET count = count + excluded.count`;

function writeTallies(statements: Statements, draft: Draft): void {
  for (const { subject, value, status, count } of draft.takeTallies())
    statements.run(addTally, subject, value, status, count);
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

/** Evidence comes before claims, and of equal ones the last. */
export const byStrength = 'ORDER BY evidence IS NOT NULL DESC, number DESC';
/** Answers to challenges that are still valid stay: they tell that the challenge was answered. */
const trim = `DELETE FROM proof WHERE serial_number = ? AND created_at < ? AND number NOT IN (
  SELECT number FROM proof WHERE serial_number = ? ${byStrength} LIMIT ${proofBounds.keptPerSerial})`;
const settle = `UPDATE proof SET is_pending = 0 WHERE is_pending = 1
  AND EXISTS (SELECT 1 FROM device WHERE device.serial_number = proof.serial_number)`;
const expire = `DELETE FROM proof WHERE is_pending = 1 AND (created_at < ? OR number <= coalesce(
  (SELECT number FROM proof WHERE is_pending = 1 ORDER BY number DESC LIMIT 1 OFFSET ?), 0))`;

/** `at`: the time of the transaction. */
function writeProofs(tables: SqliteTables, { added, expiries }: Proofs, at: number): void {
  const { statements } = tables;
  for (const answer of added) {
    const { serialNumber } = answer;
    tables.insert(proofs, answer);
    statements.run(trim, serialNumber, at - 2000 * proofBounds.challengeSeconds, serialNumber);
  }
  for (const { until, total } of expiries) {
    statements.run(settle);
    statements.run(expire, until, total);
  }
}

function writeReplaced(tables: SqliteTables, { table, changed }: ReplacedRows): void {
  for (const [key, row] of changed) {
    if (row === null) tables.remove(table, key);
    else tables.put(table, row);
  }
}
