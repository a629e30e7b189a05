import { AnchorCheck } from '../anchors.ts';
import { entryMac, type JournalRow, type Mac, noEntries, sealOf } from '../chain.ts';
import type { StoredHead } from '../journal-end.ts';
import { type JournalKeyList, KeyRing } from '../key-ring.ts';
import type { Anchors, JournalReport } from '../maintenance.ts';
import { Derived } from './derived.ts';
import { hasRecords, readHead } from './journal.ts';
import type { Statements } from './statements.ts';

interface StoredRow extends JournalRow {
  readonly mac: string;
}

const chunk = 1000;
const maxProblems = 100;

/**
 * Reads the journal from end to end. Reports entries that were changed, removed, inserted or moved, and rows of users, devices and
 * service tokens that are not what the entries say; at most `maxProblems`. Both must be of one moment: call it in a transaction.
 */
export function* verifyJournal(
  statements: Statements,
  keys: JournalKeyList,
  anchors?: Anchors,
): Generator<void, JournalReport> {
  const ring = new KeyRing(keys);
  const problems: string[] = [];
  const report = (text: string) => problems.length < maxProblems && problems.push(text);
  let { id: expected, mac: before } = noEntries;
  let entries = 0;
  const derived = new Derived();
  const anchored = new AnchorCheck(anchors);
  for (;;) {
    const head = readHead(statements);
    const rows = statements.all<StoredRow>('SELECT * FROM event WHERE id > ? ORDER BY id LIMIT ?', expected, chunk);
    if (rows.length === 0) {
      for (const text of endProblems(head, ring.mac, expected, before)) report(text);
      if (head === null && entries === 0 && hasRecords(statements)) report('all entries and the seal were removed');
      const isWhole = problems.length === 0;
      // Missing entries explain every difference of the rows: reporting these would only hide what was removed.
      if (isWhole) yield* derived.compare(statements, report);
      for (const text of anchored.problems(expected, derived.hasDigests)) report(text);
      const notCovered = isWhole ? derived.notCovered : ['users and devices, because the journal is damaged'];
      return notCovered.length ? { entries, problems, notCovered } : { entries, problems };
    }
    for (const row of rows) {
      if (row.id !== expected + 1) report(missing(expected + 1, row.id - 1));
      else if (entryMac(ring.mac, before, row) !== row.mac)
        report(`entry ${row.id} was changed, inserted or moved, or the journal key is a different one`);
      else {
        const problem = ring.pass(row);
        if (problem) report(problem);
      }
      derived.apply(row);
      anchored.entry(row);
      before = row.mac;
      expected = row.id;
      entries++;
    }
    yield;
  }
}

const missing = (from: number, to: number) =>
  from === to ? `entry ${from} was removed` : `entries ${from} to ${to} were removed`;

function endProblems(head: StoredHead | null, mac: Mac, last: number, lastMac: string): string[] {
  if (head === null) return last === 0 ? [] : ['the seal at the end of the journal was removed'];
  if (sealOf(mac, head) !== head.seal)
    return ['the seal at the end of the journal was changed, or the journal key is a different one'];
  if (head.id > last) return [missing(last + 1, head.id)];
  if (head.id < last) return [`entries after ${head.id} were inserted`];
  return head.mac === lastMac ? [] : [`entry ${last} is not the one the journal was sealed with`];
}
