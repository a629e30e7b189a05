/** A JSON object whose members are not checked. */
type JsonMembers = Readonly<Record<string, unknown>>;

/** Whether a value is an object of JSON: neither null nor an array. */
export const isObject = (value: unknown): value is JsonMembers =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The objects in a list; none if the value is not a list. */
export const objectsOf = (value: unknown): JsonMembers[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** The object that a text is; null if it is something else. */
export function objectIn(text: string): JsonMembers | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
