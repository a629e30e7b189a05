import type { LatestProof } from '../../domain/proof.ts';
import type { JournalHead } from '../queries.ts';
import { type Reads, recordReads } from '../read/records.ts';
import type { Reader } from '../store.ts';
import { selectList } from '../tables.ts';
import { readHead } from './journal.ts';
import { lastEventId, readEvents } from './read-journal.ts';
import type { Statements } from './statements.ts';
import { SqliteTables } from './tables.ts';
import { byStrength } from './writes.ts';

/** The reads as the interface has them, each executed by `run`. */
export function readerOf(reads: Reads, run: <T>(read: () => T | Promise<T>) => Promise<T>): Reader {
  const wrapped = Object.entries(reads).map(([name, read]) => [
    name,
    (...input: unknown[]) => run(() => (read as (...input: unknown[]) => unknown)(...input)),
  ]);
  return Object.fromEntries(wrapped) as Reader;
}

/** The reads that take one look at a table or an index. */
export function tableReads(statements: Statements): Omit<Reads, 'devices' | 'statistics'> {
  return {
    ...recordReads(new SqliteTables(statements)),
    latestProofs: serials => readLatestProofs(statements, serials),
    events: filter => readEvents(statements, filter),
    journalHead(id) {
      if (id !== undefined) return statements.get<JournalHead>('SELECT id, mac FROM event WHERE id = ?', id) ?? null;
      const head = readHead(statements);
      return head === null ? null : { id: head.id, mac: head.mac };
    },
    lastEventId: () => lastEventId(statements),
  };
}

const latestFields = ['proofId', 'serialNumber', 'createdAt', 'proof'] as const satisfies (keyof LatestProof)[];
const latest = `SELECT ${selectList(latestFields)} FROM proof WHERE serial_number = ? ${byStrength} LIMIT 1`;

/** See `Reader.latestProofs`. */
function readLatestProofs(statements: Statements, serials: readonly string[]): ReadonlyMap<string, LatestProof> {
  // Most registries have no answers at all: a batch of 10,000 must not look for each of its serial numbers.
  if (statements.value('SELECT 1 FROM proof LIMIT 1') === undefined) return new Map();
  const found = serials.flatMap(serial => statements.get<LatestProof>(latest, serial) ?? []);
  return new Map(found.map(one => [one.serialNumber, one]));
}
