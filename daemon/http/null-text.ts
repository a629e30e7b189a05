/**
 * Refuses texts with U+0000, wherever in a request they are: PostgreSQL cannot store one, and no input has one. Headers need no check:
 * Node's parser refuses the character.
 */
import { ApiError, Code } from '../../src/contract/codes.ts';
import { faultAt, NULL, nullFault } from '../../src/contract/null-text.ts';

/** Rejects the target of a request with 1001 if its path or query contains U+0000, which only an escape can write. */
export function refuseNullInUrl(
  url: string,
  parts: { readonly params?: unknown; readonly query?: unknown } = {},
): void {
  if (!url.includes('%00')) return;
  throw new ApiError(Code.parameterError, nullFault(parts.params) ?? nullFault(parts.query) ?? faultAt([]));
}

/** Rejects a part of a form with 1001. `texts` are its name, its content and what describes it. */
export function refuseNullInPart(name: string, ...texts: readonly (string | undefined)[]): void {
  if ([name, ...texts].some(text => text?.includes(NULL))) throw new ApiError(Code.parameterError, faultAt([name]));
}
