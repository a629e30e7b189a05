/** Answers of keys to challenges, and the proofs of devices that follow from them. */
import type { Proof } from '../../src/contract/proof.ts';
import type { ProofGrade } from '../../src/contract/values.ts';
import type { Entry } from './journal.ts';

/** An answer to a challenge as it is stored. Texts of bytes are base64url. */
export interface ProofRecord {
  /** Id of the challenge; unique among the answers. */
  readonly proofId: string;
  readonly serialNumber: string;
  /** When it was received, in milliseconds since 1970 (UTC). */
  readonly createdAt: number;
  /** Name of the user or service token. */
  readonly receivedBy: string | null;
  readonly registryId: string;
  readonly challenge: string;
  /** Private scalar of the challenge. After the answer it only serves to judge again. */
  readonly ephemeralKey: string;
  /** Manufacturer and model as they were sent; null if they were not. */
  readonly described: string | null;
  /** JSON, as it was sent. */
  readonly claims: string;
  /** JSON, as it was sent; null if the key only made claims. */
  readonly evidence: string | null;
  /** What evidence that was sent twice has in common; null without evidence. */
  readonly evidenceDigest: string | null;
  /** The proof that a device gets from it: JSON of a `StoredProof`. */
  readonly proof: string;
}

/** What a device has in its column `proof`, as JSON. */
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

/** Stores an answer. A `Conflict` if the challenge was answered before, or if the serial number belongs to a device and `isRegistered` is false. */
interface ProofAdd {
  readonly kind: 'proof.add';
  readonly proof: ProofRecord;
  /** Whether the serial number belongs to a device; its change has the entry, and `entry` is null. */
  readonly isRegistered: boolean;
  readonly entry: Entry | null;
}

/**
 * Removes answers for serial numbers that are not registered: those received before `until`, and the oldest above `total`. Writes no
 * journal entry.
 */
export interface ProofExpire {
  readonly kind: 'proof.expire';
  readonly until: number;
  readonly total: number;
}

/** No answer is stored for this serial number. */
export interface UnansweredGuard {
  readonly kind: 'unanswered';
  readonly serialNumber: string;
}

/** Every change of stored answers. */
export type ProofChange = ProofAdd | ProofExpire;

/** An answer as a registration takes it: without the claims, which decide nothing. */
export type LatestProof = Pick<ProofRecord, 'proofId' | 'serialNumber' | 'createdAt' | 'proof'>;

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

/** What lists look proofs up by, beside the grade. */
export function marksOf(text: string | null): string[] {
  if (text === null) return [];
  const { proof, advisories } = storedProof(text);
  return [...(proof.aaguid === null ? [] : [aaguidMark(proof.aaguid)]), ...advisories.map(advisoryMark)];
}

/** The mark of devices with this AAGUID. */
export const aaguidMark = (aaguid: string): string => `aaguid:${aaguid}`;
/** The mark of devices to which the advisory applies. */
export const advisoryMark = (id: string): string => `advisory:${id}`;
