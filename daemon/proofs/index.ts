import type { LatestProof, ProofChange, ProofRecord, UnansweredGuard } from '../domain/proof.ts';
import { type AnswerRecord, withAnswer } from '../store/read/records.ts';
import { subject } from '../store/subject.ts';
import type { Lookup } from '../store/table.ts';
import { answersOf, proofChanges, proofGuards } from './rules.ts';
import { proofsInSqlite } from './sqlite/index.ts';
import { type ProofRow, proofs as table } from './tables.ts';

declare module '../store/commit.ts' {
  interface SubjectChanges {
    proofs: ProofChange;
  }
  interface SubjectGuards {
    proofs: UnansweredGuard;
  }
}
declare module '../store/store.ts' {
  interface SubjectReads {
    /** The answer to this challenge. */
    proof(proofId: string): Promise<ProofRecord | null>;
    /** For each of the serial numbers with answers the last one with evidence, or if none has evidence the last one. */
    latestProofs(serials: readonly string[]): Promise<ReadonlyMap<string, LatestProof>>;
    /** The stored answers of a key, in no order. */
    proofsOf(serialNumber: string): Promise<readonly ProofRecord[]>;
    /** Whether an answer to another challenge has this digest. */
    hasEvidence(evidenceDigest: string, besides: string): Promise<boolean>;
  }
}

const select = table.fields.filter(field => field !== 'isPending');
const answers = { ...table.byKey, select };
const answersWith: Lookup<ProofRow, 'proofId'> = { table, by: ['evidenceDigest'], select: ['proofId'] };
const answersBySerial = { ...table.byKey, by: ['serialNumber'], select } as const;

/** Answers of keys to challenges. */
export const proofs = subject({
  changes: proofChanges,
  guards: proofGuards,
  rare: [answersOf],
  reads: queries => ({
    proof: proofId => queries.one(answers, proofId),
    proofsOf: serial => queries.all(answersBySerial, serial) as AnswerRecord<readonly ProofRecord[]>,
    hasEvidence: (digest, besides) =>
      withAnswer(queries.all(answersWith, digest), found => found.some(({ proofId }) => proofId !== besides)),
  }),
  sqlite: proofsInSqlite,
  postgres: async () => (await import('./postgres/index.ts')).proofsInPostgres,
});
