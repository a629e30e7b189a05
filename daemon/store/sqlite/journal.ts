/** The end of the journal as it is stored. */
import { noEntries } from '../chain.ts';
import type { JournalEnd, StoredHead } from '../journal-end.ts';
import type { Statements } from './statements.ts';

/** Continues after the last entry of the database. Returns what is wrong with the end of the journal; null if nothing is. */
export function continueJournal(statements: Statements, end: JournalEnd): string | null {
  const head = readHead(statements);
  const last = statements.value<number | null>('SELECT max(id) FROM event') ?? 0;
  const genuine = head === null ? last === 0 && !hasRecords(statements) : end.isGenuine(head);
  // If the seal is broken, the next entry must not hide the damage: its chain starts with a value that verification reports.
  const mac = genuine ? (head ?? noEntries).mac : 'broken';
  end.continueAt(head, { id: Math.max(last, head?.id ?? 0), mac });
  if (!genuine) return `the seal of the journal does not match its key: entries or the key were changed`;
  return end.id === last ? null : `the journal ends at entry ${last}, its seal records ${end.id}`;
}

export function writeHead(statements: Statements, head: StoredHead): void {
  statements.run(
    `INSERT INTO meta (name, value) VALUES ('journal', ?) ON CONFLICT DO UPDATE SET value = excluded.value`,
    JSON.stringify(head),
  );
}

/** Null if the journal was never written. */
export function readHead(statements: Statements): StoredHead | null {
  const text = statements.value<string>(`SELECT value FROM meta WHERE name = 'journal'`);
  return text === undefined ? null : (JSON.parse(text) as StoredHead);
}

/** Whether there is anything that the journal must account for: a registry that was never used has no journal. */
function hasRecords(statements: Statements): boolean {
  return statements.value('SELECT 1 FROM user UNION ALL SELECT 1 FROM device LIMIT 1') !== undefined;
}
