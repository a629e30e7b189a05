/** The judge of proofs: evidence, claims and trust in, a verdict out. It does no I/O, so any verdict can be repeated. */
import { createHash } from 'node:crypto';
import type { Evidence } from '../../../src/contract/proof.ts';
import { completed, type Finding, judgeClaims, nothing } from '../../devices/claims.ts';
import { judgeFido } from './fido.ts';
import { MalformedError } from './malformed.ts';
import { BrokenRule } from './rules.ts';
import { judgeScp11b } from './scp11b.ts';
import type { Answer, Question, Verdict } from './types.ts';
import { judgeU2f } from './u2f.ts';

/** Judges what a key answered. Returns a verdict for any answer and does not throw. */
export function judge({ claims, evidence }: Answer, question: Question): Verdict {
  const claimed = judgeClaims(claims, question);
  if (!evidence) return { proof: completed(claimed, claims, question), rule: null, reason: null };
  try {
    if (question.replayed) throw new BrokenRule('replay');
    const asked = claims.firmware === undefined ? question : { ...question, claimedFirmware: claims.firmware };
    return { proof: completed(judgeEvidence(evidence, asked), claims, question), rule: null, reason: null };
  } catch (error) {
    const broken = brokenRule(error);
    const { rule, grade, message: reason } = broken;
    const rest = grade === 'claimed' ? { ...claimed, grade } : { ...nothing, grade, method: evidence.method };
    return { proof: completed({ ...rest, warnings: [reason, ...rest.warnings] }, claims, question), rule, reason };
  }
}

function judgeEvidence(evidence: Evidence, question: Question): Finding {
  if (evidence.method === 'scp11b') return judgeScp11b(evidence, question);
  return evidence.method === 'fido' ? judgeFido(evidence, question) : judgeU2f(evidence, question);
}

/** Why evidence proves nothing. Any other error is a defect of the judge. */
function brokenRule(error: unknown): BrokenRule {
  if (error instanceof BrokenRule) return error;
  if (error instanceof MalformedError) return new BrokenRule('malformed', error.message, { cause: error });
  throw error;
}

/** SHA-256 in hex of what a key signed or computed: equal for evidence that was sent twice, however it is wrapped. */
export function evidenceDigest(evidence: Evidence): string {
  const parts =
    evidence.method === 'scp11b'
      ? [evidence.cardPublicKey, evidence.receipt]
      : [evidence.method === 'fido' ? evidence.attestationObject : evidence.registration];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
