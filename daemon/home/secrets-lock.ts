/** Daemons that share a folder of secrets change its files one after the other. */
import { poll } from '../../src/delivery/wait.ts';
import { lockFile } from '../store/sqlite/file-lock.ts';
import type { Home } from './home.ts';

/** Milliseconds to wait for another daemon. A daemon that hangs keeps the lock, because it may still write. */
const WAIT_MS = 10_000;
const POLL_MS = 10;

/** Another process has held the lock for too long. Nothing was read or written. */
export class SecretsBusy extends Error {
  override name = 'SecretsBusy';
  constructor(dir: string) {
    super(`another process is changing the files in ${dir}, and has not finished within ${WAIT_MS / 1000} s`);
  }
}

/**
 * Runs `use` while no other process that calls this changes the secrets. Do not nest it. If the secrets are in the home, the lock of the
 * home is enough. Rejects with `SecretsBusy`.
 */
export async function withSecrets<T>(home: Home, use: () => Promise<T>): Promise<T> {
  if (!home.sharesSecrets) return use();
  const file = home.path('secretsLock');
  const lock = await poll(() => lockFile(file), { everyMs: POLL_MS, forMs: WAIT_MS });
  if (!lock) throw new SecretsBusy(home.secretsDir);
  try {
    return await use();
  } finally {
    lock.release();
  }
}
