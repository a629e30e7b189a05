/** The order of the grades of a proof. */
import type { ProofGrade, RequiredGrade } from './key-values.ts';

/** How strong a proof is. A failed proof is below none: it never fulfils a policy, also not one that requires nothing. */
const strength: Readonly<Record<ProofGrade, number>> = { failed: -1, none: 0, claimed: 1, model: 2, unit: 3 };

/** Whether a proof has at least this grade. A key without a proof has the grade none. */
export const hasGrade = (proof: { readonly grade: ProofGrade } | null | undefined, required: RequiredGrade): boolean =>
  strength[proof?.grade ?? 'none'] >= strength[required];
