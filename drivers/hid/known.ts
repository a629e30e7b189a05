/** Which HID devices are security keys: by their usage page, by a table of ids, or by the operator's settings. */
import { PRODUCT, VENDOR, YUBIKEY } from '../usb/ids.ts';

/** USB ids as four lower-case hex digits. A null product means every product of the vendor. */
export interface UsbMatch {
  readonly vendorId: string;
  readonly productId: string | null;
}

/** A usage as the USB HID Usage Tables define it. */
export interface Usage {
  readonly usagePage: number;
  readonly usage: number;
}

/** Facts that the decision depends on: the ids, and the usages of the HID interfaces that were found. */
interface Candidate {
  /** USB ids as four lower-case hex digits. */
  readonly vendorId: string;
  readonly productId: string;
  readonly usages: readonly Usage[];
}

/** The usage of a FIDO interface. Source: FIDO CTAP 2.1, 11.2.8. */
export const FIDO: Usage = { usagePage: 0xf1d0, usage: 1 };

/** Usage page "generic desktop". */
const DESKTOP = 0x01;
/** The usage of a keyboard. The OTP interface of a YubiKey is one. */
export const KEYBOARD: Usage = { usagePage: DESKTOP, usage: 6 };
/** Pointer, mouse, keyboard and keypad. */
const INPUT_USAGES: readonly number[] = [1, 2, KEYBOARD.usage, 7];

const products = (vendorId: string, ...ids: string[]): UsbMatch[] => ids.map(productId => ({ vendorId, productId }));
const allOf = (vendorId: string): UsbMatch => ({ vendorId, productId: null });

/** Keys that may lack the FIDO usage page: OTP keys, and bank keys with a usage page of their maker. */
const KNOWN: readonly UsbMatch[] = [
  ...products(VENDOR.YUBICO, ...Object.values(YUBIKEY)),
  ...products(VENDOR.NITROKEY, PRODUCT.NITROKEY_PRO, PRODUCT.NITROKEY_STORAGE),
  ...products(VENDOR.NITROKEY, PRODUCT.NITROKEY_FIDO2, PRODUCT.NITROKEY_3, PRODUCT.NITROKEY_PASSKEY),
  ...products(VENDOR.PID_CODES, PRODUCT.SOLO_2),
  ...products(VENDOR.ST_MICROELECTRONICS, PRODUCT.SOLO),
  ...products(VENDOR.GOOGLE, PRODUCT.GOOGLE_TITAN_1, PRODUCT.GOOGLE_TITAN_2),
  ...products(VENDOR.OPENMOKO, PRODUCT.ONLYKEY),
  ...products(VENDOR.FSIJ, PRODUCT.GNUK),
  allOf(VENDOR.TOKEN2),
  allOf(VENDOR.FEITIAN),
  allOf(VENDOR.LONGMAI),
  allOf(VENDOR.WATCHDATA),
  allOf(VENDOR.TENDYRON),
  allOf(VENDOR.EXCELSECU),
  allOf(VENDOR.LEDGER),
];

/**
 * Parses a setting that names keys: `vid:pid`, `vid:*` or `vid` (every product), in hex with or without `0x`. Throws a
 * RangeError that explains what is wrong with the text.
 */
export function parseMatch(text: string): UsbMatch {
  const parts = /^(?:0x)?([0-9a-f]{1,4})(?::(?:(\*)|(?:0x)?([0-9a-f]{1,4})))?$/i.exec(text.trim());
  if (parts === null) {
    throw new RangeError(`"${text}" is not a USB id: write vid:pid or vid in hex, such as 096e:0850`);
  }
  const id = (digits: string): string => digits.toLowerCase().padStart(4, '0');
  return { vendorId: id(parts[1]!), productId: parts[3] === undefined ? null : id(parts[3]) };
}

function isInput({ usagePage, usage }: Usage): boolean {
  return usagePage === DESKTOP && INPUT_USAGES.includes(usage);
}

/**
 * Whether a device is a security key. A keyboard or mouse is one only if both its ids are listed (the OTP interface of a
 * YubiKey is a keyboard); a match of the whole vendor is not enough for those.
 */
export function isSecurityKey(device: Candidate, extra: readonly UsbMatch[]): boolean {
  if (device.usages.some(one => one.usagePage === FIDO.usagePage)) return true;
  const onlyInput = device.usages.every(isInput);
  return [...KNOWN, ...extra].some(
    match =>
      match.vendorId === device.vendorId &&
      (match.productId === null ? !onlyInput : match.productId === device.productId),
  );
}
