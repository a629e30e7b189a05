import type { JournalHead } from '../queries.ts';
import type { Reader } from '../store.ts';
import { appReads } from './apps.ts';
import { backupReads } from './backups.ts';
import { deviceReads } from './devices.ts';
import { readHead } from './journal.ts';
import { passkeyReads } from './passkeys.ts';
import { proofReads } from './proofs.ts';
import { lastEventId, readEvents } from './read-journal.ts';
import { responseReads } from './responses.ts';
import { serviceTokenReads } from './service-tokens.ts';
import type { Statements } from './statements.ts';
import type { Reads } from './tables.ts';
import { userReads } from './users.ts';
import { webhookReads } from './webhooks.ts';

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
    ...deviceReads(statements),
    ...userReads(statements),
    ...appReads(statements),
    ...backupReads(statements),
    ...serviceTokenReads(statements),
    ...passkeyReads(statements),
    ...proofReads(statements),
    ...responseReads(statements),
    ...webhookReads(statements),
    events: filter => readEvents(statements, filter),
    journalHead(id) {
      if (id !== undefined) return statements.get<JournalHead>('SELECT id, mac FROM event WHERE id = ?', id) ?? null;
      const head = readHead(statements);
      return head === null ? null : { id: head.id, mac: head.mac };
    },
    lastEventId: () => lastEventId(statements),
    knownBlobs: names =>
      new Set(
        statements.values<string>(
          `WITH asked AS (SELECT value FROM json_each(?))
           SELECT blob FROM app WHERE blob IN asked UNION SELECT blob FROM backup WHERE blob IN asked`,
          JSON.stringify(names),
        ),
      ),
  };
}
