/** What a registry requires of keys before it registers them. */
import { hasGrade } from '../../src/contract/grades.ts';
import type { Claims, Proof, ProofPolicy } from '../../src/contract/proof.ts';
import { compareFirmware } from './firmware.ts';

/** Why a key may not be registered: the name of the rule and a sentence. */
export interface PolicyRefusal {
  readonly rule: 'required grade' | 'allowed AAGUIDs' | 'least firmware';
  readonly message: string;
}

/** The first rule of the policy that the key does not fulfil; null if it may be registered. `proof` is null without one. */
export function checkPolicy(
  policy: ProofPolicy,
  proof: Proof | null,
  claims: Claims | null = null,
): PolicyRefusal | null {
  return gradeRefusal(policy, proof) ?? aaguidRefusal(policy, proof, claims) ?? firmwareRefusal(policy, proof, claims);
}

function gradeRefusal({ requiredGrade }: ProofPolicy, proof: Proof | null): PolicyRefusal | null {
  if (hasGrade(proof, requiredGrade)) return null;
  const grade = proof?.grade ?? 'none';
  const why = grade === 'failed' && proof?.warnings[0] ? ` (${proof.warnings[0]})` : '';
  return {
    rule: 'required grade',
    message: `the policy of this registry requires a proof of grade ${requiredGrade}; the grade of this key is ${grade}${why}`,
  };
}

function aaguidRefusal(
  { allowedAaguids }: ProofPolicy,
  proof: Proof | null,
  claims: Claims | null,
): PolicyRefusal | null {
  if (allowedAaguids.length === 0) return null;
  const aaguid = proof?.aaguid ?? claims?.aaguid;
  if (aaguid && allowedAaguids.includes(aaguid)) return null;
  return {
    rule: 'allowed AAGUIDs',
    message: `the policy of this registry allows keys by their AAGUID; ${aaguid ? `${aaguid} is not among them` : 'this key has none'}`,
  };
}

function firmwareRefusal(
  { leastFirmware }: ProofPolicy,
  proof: Proof | null,
  claims: Claims | null,
): PolicyRefusal | null {
  const firmware = proof?.firmware ?? claims?.firmware ?? null;
  const aaguid = proof?.aaguid ?? claims?.aaguid;
  const model = proof?.model?.toLowerCase() ?? '';
  for (const item of leastFirmware) {
    if (item.aaguid !== undefined && item.aaguid !== aaguid) continue;
    if (item.model !== undefined && !model.startsWith(item.model.toLowerCase())) continue;
    const difference = firmware === null ? null : compareFirmware(firmware, item.version);
    if (difference !== null && difference >= 0) continue;
    return {
      rule: 'least firmware',
      message: `the policy of this registry requires firmware ${item.version} or later; this key has ${firmware ?? 'an unknown one'}`,
    };
  }
  return null;
}
