import type { AttachedKeys, KeySource } from './attached-keys.ts';

/** Milliseconds that a request for the keys waits for the first scan of the hardware. */
const FIRST_SCAN_MS = 3000;

/** An early request for the keys waits for the first scan, but not for a driver that hangs. */
export function afterFirstScan(keys: AttachedKeys, scanned: Promise<void>): KeySource {
  return {
    driverStatuses: () => keys.driverStatuses(),
    prove: (...request) => keys.prove(...request),
    issue: (...request) => keys.issue(...request),
    sign: (...request) => keys.sign(...request),
    async list() {
      await Promise.race([scanned, new Promise<void>(resolve => setTimeout(resolve, FIRST_SCAN_MS).unref())]);
      return keys.list();
    },
  };
}
