import { HardwareError } from '../../driver.ts';

const REGISTRABLE = /^[A-Za-z0-9\-_.:/]{1,64}$/;

/**
 * Lets a serial through that can be registered and names one card alone; throws `protocol` for a placeholder that
 * makers leave where they write none.
 */
export function checkedSerial(serial: string, what: string): string {
  if (!REGISTRABLE.test(serial)) throw new HardwareError('protocol', `the ${what} holds characters no serial may have`);
  if (new Set(serial.replace(/[-_.:/]/g, '')).size < 2) {
    throw new HardwareError('protocol', `the ${what} is a placeholder (${serial}), which other cards share`);
  }
  return serial;
}
