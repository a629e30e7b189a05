/** Data that SQLite keeps beside devices: tags, marks of lists, counts and tallies, and whether the clock ever stepped back. */
import { hasTags, noTags, type Tags } from '../../../src/contract/tags.ts';
import type { ChainedRow } from '../../store/journal-end.ts';
import type { Statements } from '../../store/sqlite/statements.ts';
import type { BesideRows } from '../../store/sqlite/subject.ts';
import type { SqliteTables } from '../../store/sqlite/tables.ts';
import type { Draft } from '../../store/write/draft.ts';
import { DeviceCounts } from '../counts.ts';
import { marksOf } from '../proof.ts';
import type { DeviceRecord } from '../records.ts';
import { devices } from '../tables.ts';
import { writeSearched } from './search-texts.ts';
import { Tallies } from './tallies.ts';

export class BesideDevices implements BesideRows<DeviceRecord> {
  readonly table = devices;
  readonly #statements: Statements;
  #tallies = new Tallies();
  /** When the last device was added; null if it is to be read. */
  #lastCreated: number | null = null;

  constructor({ statements }: SqliteTables) {
    this.#statements = statements;
  }

  isPlain({ tags, proof, userKey }: DeviceRecord): boolean {
    return proof === null && userKey === null && !hasTags(tags);
  }

  written(before: DeviceRecord | null, after: DeviceRecord): void {
    const { number, tags, proof } = after;
    const [oldTags, oldProof] = [before?.tags ?? noTags, before?.proof ?? null];
    if (tags !== oldTags) setTags(this.#statements, number, oldTags, tags);
    if (proof !== oldProof) setMarks(this.#statements, number, marksOf(oldProof), marksOf(proof));
    writeSearched(this.#statements, before, after);
  }

  entered(row: ChainedRow): void {
    this.#tallies.enter(row);
  }

  end(draft: Draft): void {
    const { added, changed } = draft.of(devices);
    for (const { manufacturer, deviceType, status, by } of draft.part(DeviceCounts).all) {
      const { changes } = this.#statements.run(changeCount, by, manufacturer, deviceType, status);
      if (changes === 0) this.#statements.run(addCount, by, manufacturer, deviceType, status);
    }
    for (const device of added) this.#tallies.added(device);
    for (const change of changed) this.#tallies.changed(change);
    for (const { subject, value, status, count } of this.#tallies.all)
      this.#statements.run(addTally, subject, value, status, count);
    this.#tallies = new Tallies();
    if (added.length > 0) this.#noteClockStep(added);
  }

  forget(): void {
    this.#tallies = new Tallies();
    this.#lastCreated = null;
  }

  /** From the first device on that has an earlier time than the one before, the order of creation is not the order of numbers. */
  #noteClockStep(added: readonly DeviceRecord[]): void {
    let last = this.#lastCreated ?? this.#statements.value<number>(createdAt, added[0]!.number - 1) ?? 0;
    const stepped = added.some(device => {
      const isEarlier = device.createdAt < last;
      last = device.createdAt;
      return isEarlier;
    });
    this.#lastCreated = added.at(-1)!.createdAt;
    if (stepped) this.#statements.run(`INSERT OR IGNORE INTO meta (name, value) VALUES ('clock stepped back', 'yes')`);
  }
}

const createdAt = 'SELECT created_at FROM device WHERE number = ?';
const addCount = `INSERT INTO device_count (count, manufacturer, device_type, status) VALUES (?, ?, ?, ?)`;
const changeCount = `UPDATE device_count SET count = count + ? WHERE manufacturer = ? AND device_type = ? AND status = ?`;

const addTally = `INSERT INTO tally (subject, value, status, count) VALUES (?, ?, ?, ?)
  ON CONFLICT (subject, value, status) DO UPDATE SET count = count + excluded.count`;

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
