/** The transports of the PC/SC driver, for suites that both must pass. */
import { loadPcscFfi } from '../../drivers/pcsc/ffi/index.ts';
import { loadPcscMini } from '../../drivers/pcsc/mini/index.ts';

/** Name and loader. */
export const PCSC_TRANSPORTS = [
  ['pcsc-mini', loadPcscMini],
  ['node:ffi', loadPcscFfi],
] as const;
