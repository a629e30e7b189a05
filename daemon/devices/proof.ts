/** The proof of a device, in its column. */

import type { ProofGrade } from '../../src/contract/key-values.ts';
import type { Proof } from '../../src/contract/proof.ts';

/** Content of a device's column `proof`, as JSON. */
export interface StoredProof {
  readonly proof: Proof;
  /** Name of the rule that the evidence breaks; null if it breaks none. */
  readonly rule: string | null;
  /** Ids of the advisories that apply. */
  readonly advisories: readonly string[];
  /** The answer that it follows from. */
  readonly proofId: string;
  /** `answerDigest` of that answer. */
  readonly answer: string;
  readonly hasEvidence: boolean;
}

/** The proof in the column of a device. */
export const storedProof = (text: string): StoredProof => JSON.parse(text) as StoredProof;

/** The proof as the interface shows it; null without one. */
export const shownProof = (text: string | null): Proof | null => (text === null ? null : storedProof(text).proof);

/** The grade in the column of a device. */
export const gradeOf = (text: string | null): ProofGrade => (text === null ? 'none' : storedProof(text).proof.grade);

/** The conditions on proofs that a list can have. */
interface ProofFilter {
  /** One of these grades; `none` matches devices without a proof. */
  readonly proof?: readonly ProofGrade[] | undefined;
  readonly aaguid?: string | undefined;
  /** Id of an advisory that applies. */
  readonly advisory?: string | undefined;
}

/** Whether the proof of a device matches. */
export function matchesProof(text: string | null, { proof, aaguid, advisory }: ProofFilter): boolean {
  if (proof === undefined && aaguid === undefined && advisory === undefined) return true;
  if (proof !== undefined && !proof.includes(gradeOf(text))) return false;
  if (aaguid === undefined && advisory === undefined) return true;
  if (text === null) return false;
  const stored = storedProof(text);
  if (aaguid !== undefined && stored.proof.aaguid !== aaguid) return false;
  return advisory === undefined || stored.advisories.includes(advisory);
}

/** Fields by which lists find proofs, beside the grade. */
export function marksOf(text: string | null): string[] {
  if (text === null) return [];
  const { proof, advisories } = storedProof(text);
  return [...(proof.aaguid === null ? [] : [aaguidMark(proof.aaguid)]), ...advisories.map(advisoryMark)];
}

/** The mark of devices with this AAGUID. */
export const aaguidMark = (aaguid: string): string => `aaguid:${aaguid}`;

/** The mark of devices to which the advisory applies. */
export const advisoryMark = (id: string): string => `advisory:${id}`;
