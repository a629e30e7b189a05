/** The proof that the policy of the registry demands before a key is registered. */
import type { Key } from '../../../src/contract/hardware.ts';
import { type RequiredGrade, unproved } from '../../../src/contract/values.ts';
import { exchangeProof, type ProofRequests } from '../../../src/enrollment/proof-exchange.ts';
import type { KeyProof, NumberedKey } from '../../../src/enrollment/registry.ts';
import { call } from '../../api/request.ts';

/** Some keys answer once after they were plugged in, and another badge checks the key again. */
let last: { readonly keyId: Key['keyId']; readonly answer: KeyProof } | null = null;

/** What the policy requires of a new key; null if it requires nothing. Its rules about models are checked by the registration, which names them. */
export async function requiredProof(): Promise<RequiredGrade | null> {
  const { requiredGrade, allowedAaguids, leastFirmware } = await call('showProofPolicy', {});
  const hasRules = requiredGrade !== 'none' || allowedAaguids.length > 0 || leastFirmware.length > 0;
  return hasRules ? requiredGrade : null;
}

/** What the key answers. It may have to be touched. The registration takes the answer, which is valid for a day. */
export async function proofOf(key: NumberedKey): Promise<KeyProof> {
  if (last?.keyId !== key.keyId) last = { keyId: key.keyId, answer: await askKey(key) };
  return last.answer;
}

async function askKey(key: NumberedKey): Promise<KeyProof> {
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
