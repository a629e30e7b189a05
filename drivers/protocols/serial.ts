/** Which serial numbers may identify a key: pure decisions on what a key or a card reports as its serial. */
import { HardwareError } from '../driver.ts';
import { PRODUCT, VENDOR } from '../usb/ids.ts';

/** What the registry accepts as a serial number. */
const MAX_LENGTH = 64;
const ALLOWED = /^[A-Za-z0-9\-_.:/]+$/;

/**
 * Returns the serial of a card if it can be registered and identifies a single card. Throws HardwareError `protocol` for
 * other characters, and for a placeholder that makers leave in a field they do not use. `what` names the field.
 */
export function checkedSerial(serial: string, what: string): string {
  if (serial.length > MAX_LENGTH || !ALLOWED.test(serial)) {
    throw new HardwareError('protocol', `the ${what} contains characters that a serial must not have`);
  }
  if (new Set(serial.replace(/[-_.:/]/g, '')).size < 2) {
    throw new HardwareError('protocol', `the ${what} is a placeholder (${serial}) that other cards share`);
  }
  return serial;
}

/** A serial that can be registered, or the reason why there is none. `firmwareVersion` if the reported serial contained one. */
export type SerialVerdict =
  | { readonly serial: string; readonly firmwareVersion: string | null; readonly problem: null }
  | { readonly serial: null; readonly firmwareVersion: string | null; readonly problem: string };

/** Serials that a maker puts into every key of a model; every model of the vendor if `productId` is null. */
const MAKER_PLACEHOLDERS: readonly { vendorId: string; productId: string | null; serial: string }[] = [
  { vendorId: VENDOR.OPENMOKO, productId: PRODUCT.ONLYKEY, serial: '1000000000' },
  { vendorId: VENDOR.LEDGER, productId: null, serial: '0001' },
];

/** Gnuk and Nitrokey Start: the firmware version, which changes with each update, comes before the number of the unit. */
const GNUK = /^FSIJ-(\d+(?:\.\d+)*)-([0-9A-Fa-f]{8,})$/;

/** One repeated digit, or the F of erased memory. */
const BLANK = /^(?:([0-9])\1*|[Ff]+)$/;

const BY_HAND = 'register it by hand with the number printed on it';

const refused = (problem: string): SerialVerdict => ({ serial: null, firmwareVersion: null, problem });

/** The problem of a key that reports no serial at all. */
const NO_SERIAL = `no readable serial: the key does not report one over USB; ${BY_HAND}`;

/** The problem of two keys that report the same serial while both are plugged in. */
export function sharedSerial(serial: string): string {
  return `serial ${serial} is also the serial of another key that was plugged in at the same time, so it identifies neither; ${BY_HAND}`;
}

/**
 * Judges the serial that a USB key reports; null if it reports none. White space at the ends is removed, and so is the
 * firmware version of Gnuk; nothing else is changed. `vendorId` and `productId` are four lower-case hex digits.
 */
export function judgeSerial(reported: string | null, vendorId: string, productId: string): SerialVerdict {
  const text = reported?.trim() ?? '';
  if (text === '') return refused(NO_SERIAL);
  const gnuk = GNUK.exec(text);
  const serial = gnuk?.[2] ?? text;
  if (!ALLOWED.test(serial)) {
    return refused(`the key's serial contains characters other than letters, digits and - _ . : /; ${BY_HAND}`);
  }
  if (serial.length > MAX_LENGTH) {
    return refused(`the key's serial has ${serial.length} characters, ${MAX_LENGTH} are allowed; ${BY_HAND}`);
  }
  if (BLANK.test(serial) || isMakerPlaceholder(serial, vendorId, productId)) {
    return refused(`serial ${serial} is a placeholder that every key of this model has; ${BY_HAND}`);
  }
  return { serial, firmwareVersion: gnuk?.[1] ?? null, problem: null };
}

function isMakerPlaceholder(serial: string, vendorId: string, productId: string): boolean {
  return MAKER_PLACEHOLDERS.some(
    one =>
      one.serial === serial && one.vendorId === vendorId && (one.productId === null || one.productId === productId),
  );
}
