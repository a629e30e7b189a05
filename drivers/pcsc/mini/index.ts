import type * as PcscMini from 'pcsc-mini';
import { HardwareError } from '../../driver.ts';
import { explainLoadFailure } from '../advice.ts';
import type { Pcsc } from '../transport.ts';
import { requireBinding } from './binding.ts';
import { WatchingClient } from './client.ts';
import { ExtraReaders } from './extra-readers.ts';

/**
 * PC/SC over pcsc-mini. Throws HardwareError `unavailable` with the fix. A later call tries again, so it finds a library that
 * was installed in the meantime: `require` forgets a module that failed to load, `import` does not.
 */
export function loadPcscMini(): Pcsc {
  const binding = load();
  return {
    maxReaders: binding.MAX_READERS,
    watch: async handlers => new WatchingClient(binding, handlers),
    watchExtra: process.platform === 'linux' ? handlers => new ExtraReaders(binding, handlers) : null,
  };
}

function load(): typeof PcscMini {
  try {
    return requireBinding('pcsc-mini') as typeof PcscMini;
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new HardwareError('unavailable', explainLoadFailure(message), { cause });
  }
}
