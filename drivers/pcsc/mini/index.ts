import type * as PcscMini from 'pcsc-mini';
import { HardwareError } from '../../driver.ts';
import { explainLoadFailure } from '../advice.ts';
import type { Pcsc } from '../transport.ts';
import { requireBinding } from './binding.ts';
import { ListWatch } from './list-watch.ts';

export { UnknownProtocol } from './pcscd-socket.ts';

/**
 * PC/SC over pcscd's socket and pcsc-mini. Throws HardwareError `unavailable` with the fix. A later call tries again, so it finds a
 * library that was installed in the meantime: `require` forgets a module that failed to load, `import` does not.
 */
export function loadPcscMini(): Pcsc {
  const binding = load();
  return { maxReaders: Number.POSITIVE_INFINITY, watch: handlers => ListWatch.start(binding, handlers) };
}

function load(): typeof PcscMini {
  try {
    return requireBinding('pcsc-mini') as typeof PcscMini;
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new HardwareError('unavailable', explainLoadFailure(message), { cause });
  }
}
