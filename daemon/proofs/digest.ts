import { namesIn } from '../../src/contract/names.ts';
import { digest } from '../store/digest.ts';
import type { ProofRecord } from './records.ts';

/** The digest of everything that a stored answer is judged by. No part contains a line break: JSON escapes it. */
export const answerDigest = (answer: AnsweredChallenge): string =>
  digest(answerParts.map(part => answer[part] ?? '').join('\n'));

/** The fields that `answerDigest` covers. */
export const answerParts = namesIn(
  'proofId serialNumber createdAt registryId challenge ephemeralKey described claims evidence',
) satisfies readonly (keyof ProofRecord)[];

export type AnsweredChallenge = Pick<ProofRecord, (typeof answerParts)[number]>;
