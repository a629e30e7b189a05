/** Answers to challenges in SQLite. */
import { proofBounds } from '../../../src/contract/limits.ts';
import type { Statements } from '../../store/sqlite/statements.ts';
import type { SqliteSubject } from '../../store/sqlite/subject.ts';
import { selectList } from '../../store/table.ts';
import type { LatestProof } from '../records.ts';
import { Proofs } from '../rules.ts';
import { proofs } from '../tables.ts';

/** Evidence comes before claims, and of equal ones the last. */
const byStrength = 'ORDER BY evidence IS NOT NULL DESC, number DESC';
/** Answers to challenges that are still valid stay: they tell that the challenge was answered. */
const trim = `DELETE FROM proof WHERE serial_number = ? AND created_at < ? AND number NOT IN (
  SELECT number FROM proof WHERE serial_number = ? ${byStrength} LIMIT ${proofBounds.keptPerSerial})`;
const settle = `UPDATE proof SET is_pending = 0 WHERE is_pending = 1
  AND EXISTS (SELECT 1 FROM device WHERE device.serial_number = proof.serial_number)`;
const expire = `DELETE FROM proof WHERE is_pending = 1 AND (created_at < ? OR number <= coalesce(
  (SELECT number FROM proof WHERE is_pending = 1 ORDER BY number DESC LIMIT 1 OFFSET ?), 0))`;

const latestFields = ['proofId', 'serialNumber', 'createdAt', 'proof'] as const satisfies (keyof LatestProof)[];
const latest = `SELECT ${selectList(latestFields)} FROM proof WHERE serial_number = ? ${byStrength} LIMIT 1`;

/** Implements `Reader.latestProofs`. */
function readLatestProofs(statements: Statements, serials: readonly string[]): ReadonlyMap<string, LatestProof> {
  // Most registries have no answers at all: a batch of 10,000 must not look for each of its serial numbers.
  if (statements.value('SELECT 1 FROM proof LIMIT 1') === undefined) return new Map();
  const found = serials.flatMap(serial => statements.get<LatestProof>(latest, serial) ?? []);
  return new Map(found.map(one => [one.serialNumber, one]));
}

export const proofsInSqlite: SqliteSubject = {
  reads: statements => ({ latestProofs: serials => readLatestProofs(statements, serials) }),
  beside: tables => ({
    end(draft) {
      const { statements } = tables;
      const { added, expiries } = draft.part(Proofs);
      for (const answer of added) {
        const { serialNumber } = answer;
        tables.insert(proofs, answer);
        statements.run(trim, serialNumber, draft.at - 2000 * proofBounds.challengeSeconds, serialNumber);
      }
      for (const { until, total } of expiries) {
        statements.run(settle);
        statements.run(expire, until, total);
      }
    },
  }),
};
