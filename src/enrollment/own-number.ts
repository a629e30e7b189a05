/** Serial numbers that a key does not report itself. */
import type { Key } from '../contract/hardware.ts';

/** `serialSource` of a key that was recognized by its credential. */
export const recognizedBy = 'credential';

/** A key with a serial number: its own, or one that it was given. */
export type Numbered = Key & { readonly serialNumber: string };

/** Whether the serial number is one that the key does not report, and its device has no credential yet. */
export const isNumbered = ({ serialSource }: Pick<Key, 'serialSource'>): boolean =>
  serialSource === 'printed' || serialSource === 'auto';

/** The key under the number that is printed on it. */
export const withPrinted = (key: Key, printed: string): Numbered => ({
  ...key,
  serialNumber: printed,
  serialSource: 'printed',
  problem: null,
});
