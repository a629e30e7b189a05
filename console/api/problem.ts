/** Failures of a request. */
import type { ErrorCode, InputProblem } from '../../src/contract/codes.ts';

/** A request that was refused, or that got no response (`code` is then 0). */
export class Problem extends Error {
  /** Business code; 0 if the daemon did not answer, `key` if a security key was not used, `changed` if the form is out of date. */
  readonly code: ErrorCode | 0 | 'key' | 'changed';
  /** Id of the request in the log of the daemon; null if it did not answer. */
  readonly requestId: string | null;
  /** The `data` of a refusal; null if it has none. */
  readonly data: unknown;
  /** The refused fields of the input. */
  readonly details: readonly InputProblem[];
  constructor(
    code: ErrorCode | 0 | 'key' | 'changed',
    message: string,
    requestId: string | null = null,
    data: unknown = null,
    details: readonly InputProblem[] = [],
  ) {
    super(message);
    this.name = 'Problem';
    this.code = code;
    this.requestId = requestId;
    this.data = data;
    this.details = details;
  }
}

/**
 * Rejects with `changed` what would replace settings as a whole, if those that are stored now are neither the ones with which the form
 * began nor the ones that it stores: an attempt before may have lost its response.
 */
export function demandUnchanged(now: object, ...accepted: readonly object[]): void {
  const texts = accepted.map(each => JSON.stringify(each));
  if (!texts.includes(JSON.stringify(now))) throw new Problem('changed', '');
}

/** The problem behind anything that was thrown; null if the request was only aborted by its page. */
export function problemOf(error: unknown): Problem | null {
  if (error instanceof Problem) return error;
  if (error instanceof DOMException && error.name === 'AbortError') return null;
  return new Problem(0, error instanceof Error ? error.message : String(error));
}
