import { isNotInstalled } from './advice.ts';
import { ffiAvailable, loadPcscFfi } from './ffi/index.ts';
import { loadPcscMini, UnknownProtocol } from './mini/index.ts';
import type { Pcsc, ReaderWatch, WatchHandlers } from './transport.ts';

/**
 * The transport of this machine: on Linux pcscd's socket and pcsc-mini where npm has it, else the library of the system through node:ffi.
 * Throws HardwareError `unavailable` with the fix. A later call tries again. In the single executable, which does not contain pcsc-mini,
 * another module replaces this one (`scripts/executable/script.mjs`).
 */
export function loadPcsc(): Pcsc {
  if (process.platform !== 'linux') return loadPcscFfi();
  try {
    const mini = loadPcscMini();
    return { ...mini, watch: handlers => mini.watch(handlers).catch(error => watchElse(error, handlers)) };
  } catch (error) {
    if (ffiAvailable() && error instanceof Error && isNotInstalled(error.cause)) return loadPcscFfi();
    throw error;
  }
}

/** The library of the system speaks whatever its service speaks. */
async function watchElse(error: unknown, handlers: WatchHandlers): Promise<ReaderWatch> {
  if (error instanceof UnknownProtocol && ffiAvailable()) return loadPcscFfi().watch(handlers);
  throw error;
}
