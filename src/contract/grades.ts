/** The order of the grades of a proof, and how a key is asked for what a policy requires. */
import type { ProofPolicy } from './proof.ts';
import type { ProofGrade, RequiredGrade } from './values.ts';

/** How strong a proof is. A failed proof is below none: it never fulfils a policy, also not one that requires nothing. */
const strength: Readonly<Record<ProofGrade, number>> = { failed: -1, none: 0, claimed: 1, model: 2, unit: 3 };

/** Whether a proof has at least this grade. A key without a proof has the grade none. */
export const hasGrade = (proof: { readonly grade: ProofGrade } | null | undefined, required: RequiredGrade): boolean =>
  strength[proof?.grade ?? 'none'] >= strength[required];

/**
 * How a key is asked so that it can meet the policy: only FIDO proves an AAGUID, and the registry judges one answer. Undefined: by
 * the best method that the key has.
 */
export const methodFor = ({ allowedAaguids }: ProofPolicy): 'fido' | undefined =>
  allowedAaguids.length > 0 ? 'fido' : undefined;
