/** Which serials may name a key: pure decisions on what a key gave as its serial. */

/** A serial fit to be registered, or the reason why there is none. `firmwareVersion` where the serial carried one. */
export type SerialVerdict =
  | { readonly serial: string; readonly firmwareVersion: string | null; readonly problem: null }
  | { readonly serial: null; readonly firmwareVersion: string | null; readonly problem: string };

const LONGEST = 64;
const ALLOWED = /^[A-Za-z0-9\-_.:/]+$/;

/** Serials that a maker puts into every key of a model. */
const MAKERS_PLACEHOLDERS: readonly { vendorId: string; productId: string | null; serial: string }[] = [
  { vendorId: '1d50', productId: '60fc', serial: '1000000000' }, // OnlyKey
  { vendorId: '2c97', productId: null, serial: '0001' }, // Ledger
];

/** Gnuk and Nitrokey Start put the firmware version before the unit's number, and it changes with each update. */
const GNUK = /^FSIJ-(\d+(?:\.\d+)*)-([0-9A-Fa-f]{8,})$/;

/** One repeated digit, or the all-F of an erased memory. */
const BLANK = /^(?:([0-9])\1*|[Ff]+)$/;

const BY_HAND = 'register it by hand with the number printed on it';

const refused = (problem: string): SerialVerdict => ({ serial: null, firmwareVersion: null, problem });

/** The words for a key that gives no serial at all. */
export const NO_SERIAL = `no readable serial: the key gives none over USB; ${BY_HAND}`;

/** The words for keys that give one serial while both are plugged in. */
export function sharedSerial(serial: string): string {
  return `serial ${serial} is given by another key that was plugged in at the same time, so it names neither; ${BY_HAND}`;
}

/**
 * Judges a serial as the key gave it. White space at the ends is trimmed; nothing else is altered, but for Gnuk's
 * firmware version, which is cut off. `vendorId` and `productId` are four lower-case hex digits.
 */
export function judgeSerial(given: string | null, vendorId: string, productId: string): SerialVerdict {
  const text = given?.trim() ?? '';
  if (text === '') return refused(NO_SERIAL);
  const gnuk = GNUK.exec(text);
  const serial = gnuk?.[2] ?? text;
  if (!ALLOWED.test(serial)) {
    return refused(`the key's serial holds characters other than letters, digits and - _ . : /; ${BY_HAND}`);
  }
  if (serial.length > LONGEST) {
    return refused(`the key's serial has ${serial.length} characters, ${LONGEST} are allowed; ${BY_HAND}`);
  }
  const known = MAKERS_PLACEHOLDERS.some(
    p => p.vendorId === vendorId && (p.productId ?? productId) === productId && p.serial === serial,
  );
  if (known || BLANK.test(serial)) {
    return refused(`serial ${serial} is a placeholder that every key of this model gives; ${BY_HAND}`);
  }
  return { serial, firmwareVersion: gnuk?.[1] ?? null, problem: null };
}
