import Database from 'better-sqlite3';

/**
 * Locks a file with SQLite's write lock, which the operating system releases when the process ends for whatever reason.
 * Returns null if another process holds the lock.
 */
export function lockFile(file: string): { release(): void } | null {
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
