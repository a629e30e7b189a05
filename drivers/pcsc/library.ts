import { isNotInstalled } from './advice.ts';
import { ffiAvailable, loadPcscFfi } from './ffi/index.ts';
import { loadPcscMini } from './mini/index.ts';
import type { Pcsc } from './transport.ts';

/**
 * The transport of this machine: pcsc-mini where npm has it, else the library of the system through node:ffi. Throws
 * HardwareError `unavailable` with the fix. A later call tries again. In the single executable, which does not contain
 * pcsc-mini, another module replaces this one (`scripts/executable/script.mjs`).
 */
export function loadPcsc(): Pcsc {
  try {
    return loadPcscMini();
  } catch (error) {
    if (ffiAvailable() && error instanceof Error && isNotInstalled(error.cause)) return loadPcscFfi();
    throw error;
  }
}
