/** The facts about a key that its evidence proves. */

import type { ProofGrade } from '../../../src/contract/key-values.ts';
import type { Proof } from '../../../src/contract/proof.ts';

/** Not exported: no other file can make `ProvedFacts`, of claims for example. */
const proved: unique symbol = Symbol('proved');

/** Proved facts of a key; null: it has not proved that fact. Claims are not in here. */
export interface ProvedFacts {
  readonly [proved]: true;
  readonly grade: ProofGrade;
  /** Source of the facts: the method of the proof, or the grade if nothing is proved. */
  readonly basis: string;
  /** Why the proof failed; null if it did not, or no reason is known. */
  readonly failure: string | null;
  readonly aaguid: string | null;
  readonly model: string | null;
  readonly firmware: string | null;
}

/** The proved facts of a proof; `proof` is null without one. A proof of grade `claimed` has what the key reports, and proves none of it. */
export const provedFacts = (proof: Proof | null): ProvedFacts => (proof === null ? noFacts : factsOf(proof));

function factsOf(proof: Proof | null): ProvedFacts {
  const grade = proof?.grade ?? 'none';
  const isProof = proof !== null && (grade === 'model' || grade === 'unit');
  return {
    [proved]: true,
    grade,
    basis: (isProof && proof.method) || grade,
    failure: (grade === 'failed' && proof?.warnings[0]) || null,
    aaguid: isProof ? proof.aaguid : null,
    model: isProof ? provedModel(proof) : null,
    firmware: isProof ? proof.firmware : null,
  };
}

/** Of the many keys without a proof. */
const noFacts = factsOf(null);

/** Without FIDO metadata the proof of a FIDO key has the name of the trust anchor for its model: that is the maker at most. */
const provedModel = ({ method, metadataNumber, model }: Proof): string | null =>
  method === 'scp11b' || metadataNumber !== null ? model : null;
