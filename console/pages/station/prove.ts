/** The proof that the policy of the registry demands before a key is registered. */
import { hasGrade } from '../../../src/contract/grades.ts';
import type { Key } from '../../../src/contract/hardware.ts';
import type { ProofGrade } from '../../../src/contract/values.ts';
import { call } from '../../api/request.ts';

/** What the registry concludes from the answer of a key. */
interface Answer {
  readonly grade: ProofGrade;
  /** Null if nothing is wrong. */
  readonly reason: string | null;
}

/** Some keys answer once after they were plugged in, and another badge checks the key again. */
let last: { readonly keyId: string; readonly answer: Answer } | null = null;

/**
 * Has a new key prove what it is, if a policy is set. The registration takes the answer, which is valid for a day.
 * `fault`: why the proof is not sufficient; null if it is. Resolves with null if the policy requires nothing. Throws `Problem`.
 */
export async function proofOf(key: Key): Promise<{ readonly fault: string | null } | null> {
  const { requiredGrade, allowedAaguids, leastFirmware } = await call('showProofPolicy', {});
  const hasRules = requiredGrade !== 'none' || allowedAaguids.length > 0 || leastFirmware.length > 0;
  if (!hasRules) return null;
  if (last?.keyId !== key.keyId) last = { keyId: key.keyId, answer: await answerOf(key) };
  const { grade, reason } = last.answer;
  // The other rules are those of the registration: it names the rule that it refuses.
  if (hasGrade({ grade }, requiredGrade)) return { fault: null };
  return { fault: `${requiredGrade}; found: ${grade}${reason ? ` (${reason})` : ''}` };
}

/** Asks the key, which may have to be touched. */
async function answerOf(key: Key): Promise<Answer> {
  const serialNumber = key.serialNumber ?? '';
  const { proofId, challenge, registryId, ephemeralPublicKey, method } = await call('createProofChallenge', {});
  const asked = { serialNumber, challenge, registryId, ephemeralPublicKey, ...(method && { method }) };
  const { claims, evidence, problem } = await call('proveKey', { params: { keyId: key.keyId }, body: asked });
  // The registry judges only keys that say something.
  if (!evidence && Object.keys(claims).length === 0) return { grade: 'none', reason: problem };
  const { manufacturer, model } = key;
  const body = { serialNumber, manufacturer, model, claims, ...(evidence && { evidence }) };
  const { proof, reason } = await call('submitProof', { params: { proofId }, body });
  return { grade: proof.grade, reason: problem ?? reason };
}
