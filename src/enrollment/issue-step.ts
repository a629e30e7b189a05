/** What an attached key is asked for while it is issued, and why it has not done it. */
import type { BodyOf, DataOf } from '../contract/define.ts';
import type { Routes } from '../contract/routes.ts';

/** A request to the key. */
export type IssueStep = Omit<BodyOf<Routes['issueKey']>, 'serialNumber'>;
/** What the key has answered. */
export type StepAnswer = DataOf<Routes['issueKey']>;
/** What a key reports about its PIN. */
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
