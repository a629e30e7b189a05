/** The table of answers to challenges. */
import { proofBounds } from '../../../src/contract/limits.ts';
import type { LatestProof, ProofAdd, ProofExpire, ProofRecord, UnansweredGuard } from '../../domain/proof.ts';
import { Conflict } from '../commit.ts';
import type { Readers } from './readers.ts';
import { selectList } from './tables.ts';

type ColumnType = 'text' | 'int8';
const columnTypes: Readonly<Record<keyof ProofRecord, ColumnType>> = {
  proofId: 'text',
  serialNumber: 'text',
  createdAt: 'int8',
  receivedBy: 'text',
  registryId: 'text',
  challenge: 'text',
  ephemeralKey: 'text',
  described: 'text',
  claims: 'text',
  evidence: 'text',
  evidenceDigest: 'text',
  proof: 'text',
};
const fields = Object.keys(columnTypes) as (keyof ProofRecord)[];
/** The fields of an answer that its digest covers. */
export const answerFields = fields.filter(field => field !== 'proof');
const latestFields: Record<keyof LatestProof, 0> = { proofId: 0, serialNumber: 0, createdAt: 0, proof: 0 };
const snakeCase = (name: string) => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
/** Evidence comes before claims, and of equal ones the last. */
const byStrength = 'evidence IS NOT NULL DESC, number DESC';

/** The answer to a challenge; null if it was not answered. */
export async function readProof(readers: Readers, proofId: string): Promise<ProofRecord | null> {
  const { rows } = await readers.run(`SELECT ${selectList(fields)} FROM proof WHERE proof_id = $1`, [proofId]);
  return (rows[0] as unknown as ProofRecord | undefined) ?? null;
}

/** See `Reader.latestProofs`. */
export async function readLatestProofs(
  readers: Readers,
  serials: readonly string[],
): Promise<ReadonlyMap<string, LatestProof>> {
  if (serials.length === 0) return new Map();
  const sql = `SELECT p.* FROM unnest($1::text[]) AS asked (serial) CROSS JOIN LATERAL (
    SELECT ${selectList(Object.keys(latestFields))} FROM proof WHERE serial_number = asked.serial
    ORDER BY ${byStrength} LIMIT 1) AS p`;
  const { rows } = await readers.run(sql, [serials]);
  return new Map((rows as unknown as LatestProof[]).map(latest => [latest.serialNumber, latest]));
}

/** See `Reader.hasEvidence`. */
export async function readHasEvidence(readers: Readers, digest: string, besides: string): Promise<boolean> {
  const sql = 'SELECT EXISTS (SELECT FROM proof WHERE evidence_digest = $1 AND proof_id <> $2) AS found';
  return (await readers.run(sql, [digest, besides])).rows[0]!.found === true;
}

/** The challenges of these that were answered. */
export const answeredIds = 'SELECT proof_id AS id FROM proof WHERE proof_id = ANY($1::text[])';
/** The serial numbers of these that have answers. */
export const answeredSerials =
  'SELECT DISTINCT serial_number AS serial FROM proof WHERE serial_number = ANY($1::text[])';

const insert = `INSERT INTO proof (${fields.map(snakeCase).join(', ')}, is_pending)
  SELECT * FROM unnest(${fields.map((field, i) => `$${i + 1}::${columnTypes[field]}[]`).join(', ')}, $${fields.length + 1}::bool[])`;
/** Answers to challenges that are still valid stay: they tell that the challenge was answered. */
const trim = `DELETE FROM proof WHERE serial_number = ANY($1::text[]) AND created_at < $2 AND number NOT IN (
  SELECT k.number FROM unnest($1::text[]) AS asked (serial) CROSS JOIN LATERAL (
    SELECT number FROM proof WHERE serial_number = asked.serial ORDER BY ${byStrength} LIMIT ${proofBounds.keptPerSerial}) AS k)`;
const settle = `UPDATE proof SET is_pending = false WHERE is_pending
  AND EXISTS (SELECT FROM device WHERE device.serial_number = proof.serial_number)`;
const expire = `DELETE FROM proof WHERE is_pending AND (created_at < $1 OR number <= coalesce(
  (SELECT number FROM proof WHERE is_pending ORDER BY number DESC LIMIT 1 OFFSET $2), 0))`;

/** The answers that a group of commits stores and removes. */
export class Proofs {
  readonly #answered = new Set<string>();
  readonly #serials = new Set<string>();
  readonly #added: ProofAdd[] = [];
  readonly #expiries: ProofExpire[] = [];

  loadAnswered(ids: readonly string[]): void {
    for (const id of ids) this.#answered.add(id);
  }

  loadSerials(serials: readonly string[]): void {
    for (const serial of serials) this.#serials.add(serial);
  }

  /** Throws `Conflict` if the guard does not hold. */
  checkUnanswered({ serialNumber }: UnansweredGuard): void {
    if (this.#serials.has(serialNumber)) throw new Conflict('an answer of the key was stored meanwhile');
  }

  /** Throws `Conflict` if the challenge was answered. */
  check({ proof }: ProofAdd): void {
    if (this.#answered.has(proof.proofId)) throw new Conflict('the challenge was answered before');
  }

  add(change: ProofAdd): void {
    this.#answered.add(change.proof.proofId);
    this.#serials.add(change.proof.serialNumber);
    this.#added.push(change);
  }

  expire(change: ProofExpire): void {
    this.#expiries.push(change);
  }

  get isEmpty(): boolean {
    return this.#added.length === 0 && this.#expiries.length === 0;
  }

  /** The statements that write them. `at`: the time of the transaction. */
  *writes(at: number): Generator<readonly [sql: string, values: unknown[]]> {
    const added = this.#added;
    if (added.length > 0) {
      const columns = fields.map(field => added.map(({ proof }) => proof[field]));
      yield [insert, [...columns, added.map(({ isRegistered }) => !isRegistered)]];
      yield [trim, [added.map(({ proof }) => proof.serialNumber), at - 2000 * proofBounds.challengeSeconds]];
    }
    for (const { until, total } of this.#expiries) {
      yield [settle, []];
      yield [expire, [until, total]];
    }
  }
}
