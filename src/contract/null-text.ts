/** Texts with U+0000: PostgreSQL cannot store one, and no input has one. */
/** The character. */
export const NULL = '\0';

/** A name that can be shown: those of the contract all can. */
const isShown = (name: string): boolean => /^[\w-]+$/.test(name);

/** The message about a text at this path. */
export const faultAt = (path: readonly string[]): string =>
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
