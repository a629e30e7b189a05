import { writeFileSync } from 'node:fs';

/**
 * Leaves all memory of this process out of core dumps: PINs, passwords and tokens are in it, and no text of JavaScript can be
 * overwritten. It also holds for programs that this one starts, and for `gcore`. Only Linux can do that for a process alone.
 * Source: core(5), Controlling which mappings are written to the core dump.
 */
export function keepMemoryOutOfCoreDumps(): void {
  if (process.platform !== 'linux') return;
  try {
    writeFileSync('/proc/self/coredump_filter', '0');
  } catch {
    // A kernel without core dumps has no such file.
  }
}
