import { type ErrorCode, type InputProblem, inputError } from '../../src/contract/codes.ts';

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
  /** The fields of the input that are refused, if any. */
  readonly details: readonly InputProblem[];

  constructor(code: ErrorCode, message: string, details: readonly InputProblem[] = []) {
    this.code = code;
    this.message = message;
    this.details = details;
  }
}

/** A refusal of one field of the input, as {@link inputError}. */
export function inputRefusal(field: string, reason: string): Refusal {
  const { code, message, details } = inputError(field, reason);
  return new Refusal(code, message, details);
}
