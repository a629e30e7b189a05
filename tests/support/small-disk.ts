import { execFileSync } from 'node:child_process';
import { mkdtemp, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';

/** `describe` for tests that mount a disk of their own; shown as skipped where this user may not, failing under CI. */
export const needsMount: (name: string, body: () => void) => void =
  process.platform === 'linux' && (process.getuid?.() === 0 || process.env.CI)
    ? (name, body) => describe(name, body)
    : (name, body) => describe.skip(`${name} (skipped: only root on Linux may mount a small disk)`, body);

export interface SmallDisk {
  readonly dir: string;
  unmount(): Promise<void>;
}

/** A disk in memory with room for this many bytes. */
export async function mountSmallDisk(bytes: number): Promise<SmallDisk> {
  const dir = await mkdtemp(join(tmpdir(), 'devmgr-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'devmgr-test', dir]);
  return {
    dir,
    async unmount() {
      execFileSync('umount', [dir]);
      await rmdir(dir);
    },
  };
}
