/** Which serial numbers may identify a key: pure decisions on what a key or a card reports as its serial. */
import { HardwareError } from '../hardware-error.ts';
import { PRODUCT, VENDOR } from '../usb/ids.ts';

/** Serial numbers that the registry accepts. */
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
  const characters = serial.replace(/[-_.:/]/g, '');
  if (new Set(characters).size < 2 || isConstant(characters)) {
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

/**
 * Serials that examples and kits put into every device of any maker, in upper case. STM32Cube: the examples of its USB device library
 * (USBD_SERIALNUMBER_HS_STRING and its like). 1000000000: what OnlyKey and other firmware on Teensy boards reports. A row that is counted
 * is not listed: `isCounted` finds it, such as 0123456789ABCDEF, the default of USB gadgets (sipeed/NanoKVM, pull request 746).
 */
const CONSTANTS: ReadonlySet<string> = new Set([
  '1000000000',
  '1234567890ABCDEF',
  '00000000001A',
  '00000000001B',
  '00000000001C',
  '00000000050C',
  'DEADBEEF',
  'SERIAL',
  'SERIALNUMBER',
]);

/** Characters of the shortest counted row that is refused: a shorter one can be the number of a unit. */
const COUNTED_FROM = 6;

/** Whether each character is one more, or one less, than the one before, in decimal or hex. */
function isCounted(serial: string): boolean {
  if (serial.length < COUNTED_FROM || !/^[0-9A-F]+$/i.test(serial)) return false;
  const values = [...serial].map(character => Number.parseInt(character, 16));
  const counts = (base: number, step: number) =>
    values.every((value, at) => value < base && (at === 0 || (values[at - 1]! + step + base) % base === value));
  return [10, 16].some(base => counts(base, 1) || counts(base, -1));
}

const isConstant = (serial: string): boolean => CONSTANTS.has(serial.toUpperCase()) || isCounted(serial);

/** Gnuk and Nitrokey Start: the firmware version, which changes with each update, comes before the number of the unit. */
const GNUK = /^FSIJ-(\d+(?:\.\d+)*)-([0-9A-Fa-f]{8,})$/;

/** One repeated digit, or the F of erased memory. */
const BLANK = /^(?:([0-9])\1*|[Ff]+)$/;

const BY_HAND = 'enroll it with the number printed on it';

const refused = (problem: string): SerialVerdict => ({ serial: null, firmwareVersion: null, problem });

/** The problem of a key that reports no serial at all. */
const NO_SERIAL = `no readable serial: the key does not report one; ${BY_HAND}`;

/** The problem of two keys that report the same serial while both are plugged in. */
export function sharedSerial(serial: string): string {
  return `serial ${serial} is also the serial of another key that was plugged in at the same time, so it identifies neither; ${BY_HAND}`;
}

/**
 * Judges the serial that a USB key reports; null if it reports none. White space at the ends is removed, and so is the
 * firmware version of Gnuk; nothing else is changed. `vendorId` and `productId` are four lower-case hex digits. `from`: a number that the
 * maker's own protocol reports is that of the unit, even if its digits are counted.
 */
export function judgeSerial(
  reported: string | null,
  vendorId: string,
  productId: string,
  from: 'descriptor' | 'maker' = 'descriptor',
): SerialVerdict {
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
  const isForAll = from === 'descriptor' && isConstant(serial);
  if (BLANK.test(serial) || isForAll || isMakerPlaceholder(serial, vendorId, productId)) {
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
