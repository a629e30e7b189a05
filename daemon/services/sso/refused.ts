import { ApiError, Code } from '../../../src/contract/codes.ts';
import type { SsoProblem } from '../../../src/contract/values.ts';

/** No one is signed in. */
export class SsoRefused extends ApiError {
  readonly problem: SsoProblem;
  constructor(problem: SsoProblem, message: string) {
    super(Code.tokenInvalid, message);
    this.problem = problem;
  }
}
