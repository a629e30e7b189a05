/** What the console keeps in the storages of the browser. */

/** What a storage has under a name; null if it has nothing that can be read. */
export function storedIn<T>(storage: 'localStorage' | 'sessionStorage', name: string): T | null {
  try {
    // A browser that denies storage throws when it is named.
    return JSON.parse(window[storage].getItem(name) ?? 'null') as T | null;
  } catch {
    return null;
  }
}
