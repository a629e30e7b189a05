/** One run at a time per results file: two would overwrite each other's activation codes. */
import { Fault, systemCode, systemWords } from '../../fault.ts';
import { type FileLock, tryLock } from '../../settings/file-lock.ts';

/** System errors of a folder that cannot hold a lock. */
const noFolder: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR']);

/** Locks `base` until it is released or the process ends. Null if its folder cannot be written; a fault if another run holds it. */
export function holdRun(base: string): FileLock | null {
  const file = `${base}.resume.lock`;
  try {
    const lock = tryLock(file);
    if ('release' in lock) return lock;
    throw new Fault(
      'failure',
      `another run writes to ${base}${lock.pid === null ? '' : ` (process ${lock.pid})`}`,
      'wait until it ends, or name another file with --out',
    );
  } catch (error) {
    if (error instanceof Fault) throw error;
    if (noFolder.has(systemCode(error) ?? '')) return null;
    throw new Fault('failure', `cannot write ${file}: ${systemWords(error)}`);
  }
}
