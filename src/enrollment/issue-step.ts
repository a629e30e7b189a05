/** The steps in which an attached key is issued, and why one has failed. */
import type { Body, Data } from '../contract/routes.ts';

/** A request to the key. */
export type IssueStep = Omit<Body<'issueKey'>, 'serialNumber'>;
/** The answer of the key. */
export type StepAnswer = Data<'issueKey'>;
/** The PIN of a key as the key reports it. */
export type KeyPinState = NonNullable<StepAnswer['state']>;

/**
 * Why a key is not issued: what the key refuses, or how a step failed. `pin-present`: it has a PIN, and only a first PIN can be created.
 * `pin-unfit`: a text cannot be its PIN.
 */
export type IssueProblemCode =
  | NonNullable<StepAnswer['refusal' | 'failure']>
  | 'pin-change'
  | 'pin-present'
  | 'pin-unfit';

/** The error of a key that cannot be issued. */
export class IssueProblem extends Error {
  override name = 'IssueProblem';
  readonly code: IssueProblemCode;
  constructor(code: IssueProblemCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Resolves with what the key has done. Rejects with `IssueProblem`. */
export async function stepDone(request: Promise<StepAnswer>): Promise<StepAnswer> {
  const answer = await request;
  if (answer.problem === null) return answer;
  throw new IssueProblem(answer.refusal ?? answer.failure ?? 'protocol', answer.problem);
}
