/** Judges answers of keys with what the registry trusts, and makes what is stored of a verdict. */
import type { Claims, Evidence } from '../../src/contract/proof.ts';
import { advisories } from '../devices/advisories.ts';
import { type StoredProof, storedProof } from '../devices/proof.ts';
import type { Entry } from '../store/journal.ts';
import { evidenceDigest, judge } from './judge/judge.ts';
import type { Trust, Verdict } from './judge/types.ts';
import { answerDigest, type ProofRecord } from './records.ts';

/** An answer without its verdict. */
export type UnjudgedProof = Omit<ProofRecord, 'proof'>;

/** The circumstances of a verdict. */
interface Circumstances {
  readonly trust: Trust;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Whether the same evidence was received for another challenge. */
  readonly isReplayed: boolean;
}

/** Judges an answer. The same answer under the same circumstances has the same verdict. */
export function judgeAnswer(answer: UnjudgedProof, { trust, now, isReplayed }: Circumstances): Verdict {
  const claims = JSON.parse(answer.claims) as Claims;
  const evidence = answer.evidence === null ? null : (JSON.parse(answer.evidence) as Evidence);
  return judge(
    { claims, evidence },
    {
      serialNumber: answer.serialNumber,
      challenge: Buffer.from(answer.challenge, 'base64url'),
      registryId: answer.registryId,
      ephemeralPrivateKey: Buffer.from(answer.ephemeralKey, 'base64url'),
      trust,
      replayed: isReplayed,
      provedAt: new Date(answer.createdAt),
      now: new Date(now),
      ...(answer.described === null ? {} : { described: answer.described }),
    },
  );
}

/** The verdict of a stored answer, judged with what the registry trusts now. */
export function judgedNow(answer: ProofRecord, { trust, now }: Omit<Circumstances, 'isReplayed'>): string {
  const isReplayed = storedProof(answer.proof).rule === 'replay';
  return proofText(answer, judgeAnswer(answer, { trust, now, isReplayed }));
}

/** The text that a device gets for a verdict. */
export function proofText(answer: UnjudgedProof, { proof, rule }: Verdict): string {
  const ids = advisories.map(({ id }) => id).filter(id => proof.warnings.some(warning => warning.startsWith(`${id}:`)));
  const stored: StoredProof = {
    proof,
    rule,
    advisories: ids,
    proofId: answer.proofId,
    answer: answerDigest(answer),
    hasEvidence: answer.evidence !== null,
  };
  return JSON.stringify(stored);
}

/** The journal entry of a verdict. The evidence is in the table of answers; its digest is here. */
export function proofEntry(type: Entry['type'], answer: UnjudgedProof, text: string): Entry {
  const { proof, rule, answer: digest } = storedProof(text);
  const { grade, method, aaguid, root, metadataNumber } = proof;
  const { proofId, serialNumber, evidenceDigest } = answer;
  const verdict = { grade, method, rule, aaguid, root, metadataNumber };
  return { type, detail: { serialNumber, proofId, ...verdict, answerDigest: digest, evidenceDigest } };
}

/** The digest of the evidence, the same for answers with the same evidence; null without evidence. */
export const digestOf = (evidence: Evidence | null): string | null => evidence && evidenceDigest(evidence);
