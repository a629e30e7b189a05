import Database from 'better-sqlite3';

/**
 * Holds a file through SQLite's write lock, which the operating system lets go of when the process ends in whatever way.
 * Null where another process holds it.
 */
export function holdFile(file: string): { release(): void } | null {
  const db = new Database(file, { timeout: 0 });
  try {
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY')) return null;
    throw error;
  }
  return { release: () => db.close() };
}
