import { isBuiltin } from 'node:module';
import { HardwareError } from '../../driver.ts';
import { explainLoadFailure, explainNoFfi } from '../advice.ts';
import type { Pcsc } from '../transport.ts';
import { abiOf } from './abi.ts';
import { FfiWatch } from './ffi-watch.ts';
import { PcscFailure } from './results.ts';

const abi = abiOf(process.platform, process.arch);

/** Whether this Node has node:ffi (from version 26.1), and the layout of PC/SC on this system is known. */
export const ffiAvailable = (): boolean => abi !== null && isBuiltin('node:ffi');

/**
 * PC/SC over the library of the system. Loads nothing: a missing library is the failure of `watch`. Throws HardwareError `unavailable`
 * where this Node or this system has none.
 */
export function loadPcscFfi(): Pcsc {
  if (!ffiAvailable()) throw new HardwareError('unavailable', explainNoFfi());
  return {
    maxReaders: abi?.maxReaders ?? 0,
    watch: handlers =>
      FfiWatch.start(handlers).catch((cause: Error) => {
        if (cause instanceof PcscFailure) throw cause;
        throw new HardwareError('unavailable', explainLoadFailure(cause.message), { cause });
      }),
  };
}
