import type { ErrorCode } from '../../src/contract/codes.ts';

/** Decision that allows an operation: the change to commit, and what must still hold at that moment. */
export interface Decision<C, G> {
  readonly change: C;
  readonly guards: readonly G[];
}

/** Decision that refuses an operation. A value, not an exception: the caller decides how to report it. */
export class Refusal {
  readonly code: ErrorCode;
  /** For the client: names the thing and explains what to do. */
  readonly message: string;

  constructor(code: ErrorCode, message: string) {
    this.code = code;
    this.message = message;
  }
}
