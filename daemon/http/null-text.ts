/**
 * Refuses texts with U+0000, wherever in a request they are: PostgreSQL cannot store one, and no input has one. Headers need no check:
 * Node's parser refuses the character.
 */
import { ApiError, Code } from '../../src/contract/codes.ts';

const NULL = '\0';

/** A name that can be shown: those of the contract all can. */
const isShown = (name: string): boolean => /^[\w-]+$/.test(name);

const faultAt = (path: readonly string[]): string =>
  `${path.length > 0 && path.every(isShown) ? path.join('.') : 'a text'} contains the character U+0000`;

/** The message about U+0000 in a parsed JSON value, with the path to it; null if none of its texts and names contains U+0000. */
export function nullFault(value: unknown, path: readonly string[] = []): string | null {
  if (typeof value === 'string') return value.includes(NULL) ? faultAt(path) : null;
  if (typeof value !== 'object' || value === null) return null;
  if (Array.isArray(value)) return firstFault(value, element => nullFault(element, path));
  return firstFault(Object.entries(value), ([name, member]) =>
    name.includes(NULL) ? faultAt([...path, name]) : nullFault(member, [...path, name]),
  );
}

function firstFault<T>(values: readonly T[], faultOf: (value: T) => string | null): string | null {
  for (const value of values) {
    const fault = faultOf(value);
    if (fault !== null) return fault;
  }
  return null;
}

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
