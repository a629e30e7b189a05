/** The proof that the policy of the registry demands before a key is registered. */
import { hasGrade } from '../../../src/contract/grades.ts';
import type { Key } from '../../../src/contract/hardware.ts';
import { unproved } from '../../../src/contract/values.ts';
import { exchangeProof, type ProofRequests } from '../../../src/enrollment/proof-exchange.ts';
import type { KeyProof, NumberedKey } from '../../../src/enrollment/registry.ts';
import { call } from '../../api/request.ts';

/** Some keys answer once after they were plugged in, and another badge checks the key again. */
let last: { readonly keyId: string; readonly answer: KeyProof } | null = null;

/**
 * Has a new key prove what it is, if a policy is set. The registration takes the answer, which is valid for a day.
 * `fault`: why the proof is not sufficient; null if it is. Resolves with null if the policy requires nothing. Throws `Problem`.
 */
export async function proofOf(key: Key): Promise<{ readonly fault: string | null } | null> {
  const { requiredGrade, allowedAaguids, leastFirmware } = await call('showProofPolicy', {});
  const hasRules = requiredGrade !== 'none' || allowedAaguids.length > 0 || leastFirmware.length > 0;
  if (!hasRules) return null;
  if (last?.keyId !== key.keyId)
    last = { keyId: key.keyId, answer: await askKey({ ...key, serialNumber: key.serialNumber ?? '' }) };
  const { proof, reason } = last.answer;
  // The other rules are those of the registration: it names the rule that it refuses.
  if (hasGrade(proof, requiredGrade)) return { fault: null };
  return { fault: `${requiredGrade}; found: ${proof.grade}${reason ? ` (${reason})` : ''}` };
}

/** Asks the key, which may have to be touched. */
export async function askKey(key: NumberedKey): Promise<KeyProof> {
  const requests: ProofRequests = {
    createChallenge: () => call('createProofChallenge', {}),
    proveKey: body => call('proveKey', { params: { keyId: key.keyId }, body }),
    submitProof: input => call('submitProof', input),
  };
  const { problem, verdict } = await exchangeProof(requests, key, 'policy');
  if (verdict === null) return { proof: { ...unproved, warnings: [] }, proofId: null, reason: problem ?? '' };
  const { proof, proofId, reason } = verdict;
  return { proof, proofId, reason: problem ?? reason ?? '' };
}
