/** The check of a whole registry, the same for all engines. */
import type { StoredRows } from './copy.ts';
import { isSealed, type JournalKeyList } from './key-ring.ts';
import type { Anchors, CheckReport, RegistryReader } from './maintenance.ts';
import type { Subjects } from './subjects.ts';
import { verifyJournal } from './write/verify.ts';

const MOST_PROBLEMS = 100;

/** Compares counters and indexes with the rows, and reads the journal from end to end. `faults`: the queries of the engine. */
export async function checkRows(
  subjects: Subjects,
  rows: StoredRows,
  faults: readonly string[],
  keys: JournalKeyList,
  anchors?: Anchors,
): Promise<CheckReport> {
  const wrong: string[] = [];
  for (const sql of [...subjects.faults, ...faults]) wrong.push(...(await rows.texts(`${sql} LIMIT ${MOST_PROBLEMS}`)));
  const journal = await verifyJournal(subjects, rows, keys, anchors);
  const unproven = journal.problems.map(text => `journal: ${text}`);
  const [devices] = await rows.texts('SELECT count(*) FROM device');
  return { ...journal, problems: [...wrong, ...unproven], unproven, devices: Number(devices) };
}

/** Reads of the journal for a reader of a registry. `atOneMoment` runs reads in one transaction: others may write at the same time. */
export const journalReads = (
  subjects: Subjects,
  keys: JournalKeyList,
  atOneMoment: <T>(read: (rows: StoredRows) => Promise<T>) => Promise<T>,
): Pick<RegistryReader, 'sealedHead' | 'verifyJournal'> => ({
  async sealedHead() {
    const head = await atOneMoment(rows => rows.head());
    return head !== null && isSealed(keys, head) ? { id: head.id, mac: head.mac } : null;
  },
  verifyJournal: anchors => atOneMoment(rows => verifyJournal(subjects, rows, keys, anchors)),
});
