import type { ErrorCode } from '../../src/contract/codes.ts';

/** What the domain returns if an operation is allowed: the change to commit, and what must still hold at that moment. */
export interface Decision<C, G> {
  readonly change: C;
  readonly guards: readonly G[];
}

/** What the domain returns if an operation is not allowed. A value, not an exception: the caller decides how to report it. */
export class Refusal {
  readonly code: ErrorCode;
  /** For the client: names the thing and explains what to do. */
  readonly message: string;

  constructor(code: ErrorCode, message: string) {
    this.code = code;
    this.message = message;
  }
}
