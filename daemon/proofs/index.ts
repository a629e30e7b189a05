import { type AnswerRecord, type ReadsOf, type RecordQueries, withAnswer } from '../store/read/records.ts';
import { subject } from '../store/subject.ts';
import type { Lookup } from '../store/table.ts';
import { compareAnswers } from './answers-check.ts';
import type { LatestProof, ProofChange, ProofRecord, UnansweredGuard } from './records.ts';
import { answersOf, proofChanges, proofGuards } from './rules.ts';
import { proofsInSqlite } from './sqlite/index.ts';
import { type ProofRow, proofs as table } from './tables.ts';

declare module '../store/document.ts' {
  interface SubjectDocuments {
    proofs: 'trust' | 'metadata' | 'proof-policy';
  }
}
declare module '../store/commit.ts' {
  interface SubjectChanges {
    proofs: ProofChange;
  }
  interface SubjectGuards {
    proofs: UnansweredGuard;
  }
}
declare module '../store/store.ts' {
  interface SubjectReads extends ReadsOf<typeof reads> {
    /** For each of the serial numbers with answers the last one with evidence, or if none has evidence the last one. */
    latestProofs(serials: readonly string[]): Promise<ReadonlyMap<string, LatestProof>>;
  }
}

const select = table.fields.filter(field => field !== 'isPending');
const answers = { ...table.byKey, select };
const answersWith: Lookup<ProofRow, 'proofId'> = { table, by: ['evidenceDigest'], select: ['proofId'] };
const answersBySerial = { ...table.byKey, by: ['serialNumber'], select } as const;

const reads = (queries: RecordQueries) => ({
  /** The answer to this challenge. */
  proof: (proofId: string) => queries.one(answers, proofId) as AnswerRecord<ProofRecord | null>,
  /** The stored answers of a key, in no order. */
  proofsOf: (serial: string) => queries.all(answersBySerial, serial) as AnswerRecord<readonly ProofRecord[]>,
  /** Whether an answer to another challenge has this digest. */
  hasEvidence: (digest: string, besides: string) =>
    withAnswer(queries.all(answersWith, digest), found => found.some(({ proofId }) => proofId !== besides)),
});

/** Answers of keys to challenges. */
export const proofs = subject({
  changes: proofChanges,
  guards: proofGuards,
  rare: [answersOf],
  comparisons: [{ table: 'device', compare: compareAnswers }],
  reads,
  sqlite: proofsInSqlite,
  postgres: async () => (await import('./postgres/index.ts')).proofsInPostgres,
});
