/** What the console keeps in the storages of the browser. */

/** What a storage has under a name; null if it has nothing that can be read. */
export function storedIn<T>(storage: Storage, name: string): T | null {
  try {
    return JSON.parse(storage.getItem(name) ?? 'null') as T | null;
  } catch {
    return null;
  }
}
