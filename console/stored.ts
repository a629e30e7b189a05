/** Storages of the browser. */

/** Value of a name in a storage; null if it has nothing that can be read. */
export function storedIn<T>(storage: 'localStorage' | 'sessionStorage', name: string): T | null {
  try {
    // A browser that denies storage throws when it is named.
    return JSON.parse(window[storage].getItem(name) ?? 'null') as T | null;
  } catch {
    return null;
  }
}
