/** Answers to challenges, and the documents that say what is trusted. */
import { proofBounds } from '../../../src/contract/limits.ts';
import type { DocumentRecord, DocumentSet } from '../../domain/document.ts';
import { type LatestProof, marksOf, type ProofChange, type ProofRecord } from '../../domain/proof.ts';
import { Conflict } from '../commit.ts';
import { checkVersion, hasAnswers, versionOf } from './kept-guards.ts';
import type { Statements } from './statements.ts';
import { columnsOf, type Reads } from './tables.ts';
import type { Apply, Writes } from './writing.ts';

/** The fields of an answer; the compiler knows if one is missing. */
export const proofFields: Record<keyof ProofRecord, 0> = {
  proofId: 0,
  serialNumber: 0,
  createdAt: 0,
  receivedBy: 0,
  registryId: 0,
  challenge: 0,
  ephemeralKey: 0,
  described: 0,
  claims: 0,
  evidence: 0,
  evidenceDigest: 0,
  proof: 0,
};
const columns = columnsOf(proofFields);
const latestFields: Record<keyof LatestProof, 0> = { proofId: 0, serialNumber: 0, createdAt: 0, proof: 0 };
/** Evidence comes before claims, and of equal ones the last. */
const byStrength = 'ORDER BY evidence IS NOT NULL DESC, number DESC';

/** The reads of answers and documents. */
export function proofReads(
  statements: Statements,
): Pick<Reads, 'proof' | 'latestProofs' | 'hasEvidence' | 'document' | 'documentVersion'> {
  return {
    proof: proofId => statements.get<ProofRecord>(`SELECT ${columns} FROM proof WHERE proof_id = ?`, proofId) ?? null,
    latestProofs(serials) {
      // Most registries have no answers at all: a batch of 10,000 must not look for each of its serial numbers.
      if (!hasAnswers(statements)) return new Map();
      const sql = `SELECT ${columnsOf(latestFields)} FROM proof WHERE serial_number = ? ${byStrength} LIMIT 1`;
      const found = serials.flatMap(serial => statements.get<LatestProof>(sql, serial) ?? []);
      return new Map(found.map(latest => [latest.serialNumber, latest]));
    },
    hasEvidence: (digest, besides) =>
      statements.value('SELECT 1 FROM proof WHERE evidence_digest = ? AND proof_id <> ?', digest, besides) !==
      undefined,
    document: name =>
      statements.get<DocumentRecord>('SELECT name, version, value FROM document WHERE name = ?', name) ?? null,
    documentVersion: name => versionOf(statements, name),
  };
}

/** Replaces what lists find a device by. */
export function setMarks(statements: Statements, device: number, before: string | null, after: string | null): void {
  const [old, marks] = [marksOf(before), marksOf(after)];
  for (const mark of old)
    if (!marks.includes(mark)) statements.run('DELETE FROM device_mark WHERE mark = ? AND device = ?', mark, device);
  for (const mark of marks)
    statements.run('INSERT OR IGNORE INTO device_mark (mark, device) VALUES (?, ?)', mark, device);
}

/** The numbers of the devices with a mark, ascending: at most `limit` of them after the number `after`. */
export const devicesWithMark = (statements: Statements, mark: string, after: number, limit: number): number[] =>
  statements.values<number>(
    'SELECT device FROM device_mark WHERE mark = ? AND device > ? ORDER BY device LIMIT ?',
    mark,
    after,
    limit,
  );

/** Whether the database has proofs: an older one is read as it is, by a check. */
export const storesProofs = (statements: Statements): boolean =>
  statements.value(`SELECT 1 FROM sqlite_schema WHERE name = 'proof'`) !== undefined;

const insert = `INSERT INTO proof (proof_id, serial_number, created_at, received_by, registry_id, challenge, ephemeral_key, described,
    claims, evidence, evidence_digest, proof, is_pending)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
/** Answers to challenges that are still valid stay: they tell that the challenge was answered. */
const trim = `DELETE FROM proof WHERE serial_number = ? AND created_at < ? AND number NOT IN (
  SELECT number FROM proof WHERE serial_number = ? ${byStrength} LIMIT ${proofBounds.keptPerSerial})`;

const add: Apply<'proof.add'> = ({ proof, isRegistered, entry }, context, { statements, journal, kept }) => {
  kept.forget();
  const fields = Object.keys(proofFields) as (keyof ProofRecord)[];
  statements.run(insert, ...fields.map(field => proof[field]), isRegistered ? 0 : 1);
  const { serialNumber } = proof;
  statements.run(trim, serialNumber, context.at - 2000 * proofBounds.challengeSeconds, serialNumber);
  if (entry) journal.append(context, entry, null, null);
  return { kind: 'done' };
};

const expire: Apply<'proof.expire'> = ({ until, total }, _context, { statements }) => {
  statements.run(
    `UPDATE proof SET is_pending = 0 WHERE is_pending = 1
       AND EXISTS (SELECT 1 FROM device WHERE device.serial_number = proof.serial_number)`,
  );
  const { changes } = statements.run(
    `DELETE FROM proof WHERE is_pending = 1 AND (created_at < ? OR number <= coalesce(
       (SELECT number FROM proof WHERE is_pending = 1 ORDER BY number DESC LIMIT 1 OFFSET ?), 0))`,
    until,
    total,
  );
  return { kind: 'removed', count: changes };
};

const set: Apply<'document.set'> = ({ name, before, value, entry }, context, { statements, journal, kept }) => {
  kept.forget();
  statements.run(
    `INSERT INTO document (name, version, value) VALUES (?, ?, ?)
     ON CONFLICT (name) DO UPDATE SET version = excluded.version, value = excluded.value`,
    name,
    before + 1,
    value,
  );
  journal.append(context, entry, null, null);
  return { kind: 'done' };
};

/** How changes of answers and documents are written. */
export const proofWrites: Writes<ProofChange['kind'] | DocumentSet['kind']> = {
  'proof.add': {
    check({ proof: { proofId, serialNumber }, isRegistered }, statements) {
      if (statements.value('SELECT 1 FROM proof WHERE proof_id = ?', proofId) !== undefined)
        throw new Conflict('the challenge was answered before');
      if (!isRegistered && statements.value('SELECT 1 FROM device WHERE serial_number = ?', serialNumber) !== undefined)
        throw new Conflict('the serial number was registered meanwhile');
    },
    apply: add,
  },
  'proof.expire': { apply: expire },
  'document.set': {
    check: ({ name, before }, statements) => checkVersion(name, before, versionOf(statements, name)),
    apply: set,
  },
};
