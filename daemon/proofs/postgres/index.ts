/** Answers to challenges in PostgreSQL. */
import { proofBounds } from '../../../src/contract/limits.ts';
import type { Readers } from '../../store/postgres/readers.ts';
import type { PostgresSubject } from '../../store/postgres/subject.ts';
import { insert } from '../../store/postgres/tables.ts';
import { selectList } from '../../store/table.ts';
import type { LatestProof } from '../records.ts';
import { Proofs } from '../rules.ts';
import { proofs } from '../tables.ts';

/** Evidence comes before claims, and of equal ones the last. */
const byStrength = 'evidence IS NOT NULL DESC, number DESC';
/** Answers to challenges that are still valid stay: they tell that the challenge was answered. */
const trim = `DELETE FROM proof WHERE serial_number = ANY($1::text[]) AND created_at < $2 AND number NOT IN (
  SELECT k.number FROM unnest($1::text[]) AS asked (serial) CROSS JOIN LATERAL (
    SELECT number FROM proof WHERE serial_number = asked.serial ORDER BY ${byStrength} LIMIT ${proofBounds.keptPerSerial}) AS k)`;
const settle = `UPDATE proof SET is_pending = false WHERE is_pending
  AND EXISTS (SELECT FROM device WHERE device.serial_number = proof.serial_number)`;
const expire = `DELETE FROM proof WHERE is_pending AND (created_at < $1 OR number <= coalesce(
  (SELECT number FROM proof WHERE is_pending ORDER BY number DESC LIMIT 1 OFFSET $2), 0))`;

/** Implements `Reader.latestProofs`. */
async function readLatestProofs(
  readers: Readers,
  serials: readonly string[],
): Promise<ReadonlyMap<string, LatestProof>> {
  if (serials.length === 0) return new Map();
  const fields = ['proofId', 'serialNumber', 'createdAt', 'proof'] as const satisfies (keyof LatestProof)[];
  const sql = `SELECT p.* FROM unnest($1::text[]) AS asked (serial) CROSS JOIN LATERAL (
    SELECT ${selectList(fields)} FROM proof WHERE serial_number = asked.serial
    ORDER BY ${byStrength} LIMIT 1) AS p`;
  const { rows } = await readers.run(sql, [serials]);
  return new Map((rows as unknown as LatestProof[]).map(latest => [latest.serialNumber, latest]));
}

export const proofsInPostgres: PostgresSubject = {
  reads: readers => ({ latestProofs: serials => readLatestProofs(readers, serials) }),
  *writes(draft) {
    const { added, expiries } = draft.part(Proofs);
    if (added.length > 0) {
      const serials = added.map(({ serialNumber }) => serialNumber);
      yield insert(proofs, added);
      yield [trim, [serials, draft.at - 2000 * proofBounds.challengeSeconds]];
    }
    for (const { until, total } of expiries) {
      yield [settle, []];
      yield [expire, [until, total]];
    }
  },
};
