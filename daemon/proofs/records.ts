/** Answers of keys to challenges, and the proofs of devices that follow from them. */
import { namesIn } from '../../src/contract/names.ts';
import { digest } from '../store/digest.ts';
import type { Entry } from '../store/journal.ts';

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
  /** The digest by which evidence that was sent twice is recognized; null without evidence. */
  readonly evidenceDigest: string | null;
  /** The proof that a device gets from it: JSON of a `StoredProof`. */
  readonly proof: string;
}

/**
 * Stores an answer. A `Conflict` if the challenge was answered before, or if the serial number belongs to a device and
 * `isRegistered` is false.
 */
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

/** The digest of everything that a stored answer is judged by. No part contains a line break: JSON escapes it. */
export const answerDigest = (answer: AnsweredChallenge): string =>
  digest(answerParts.map(part => answer[part] ?? '').join('\n'));

/** The fields that `answerDigest` covers. */
export const answerParts = namesIn(
  'proofId serialNumber createdAt registryId challenge ephemeralKey described claims evidence',
) satisfies readonly (keyof ProofRecord)[];

export type AnsweredChallenge = Pick<ProofRecord, (typeof answerParts)[number]>;
