/** Which HID devices are security keys: by what they say they are, by a table of ids, by the operator's settings. */

/** USB ids as four lower-case hex digits; a null product stands for every product of the vendor. */
export interface UsbMatch {
  readonly vendorId: string;
  readonly productId: string | null;
}

/** What the decision looks at: the ids, and the usage of each HID interface found so far. */
export interface Candidate {
  readonly vendorId: string;
  readonly productId: string;
  readonly usages: readonly { readonly usagePage: number; readonly usage: number }[];
}

export const FIDO_USAGE_PAGE = 0xf1d0;
export const FIDO_USAGE = 1;

const products = (vendorId: string, ...ids: string[]): UsbMatch[] => ids.map(productId => ({ vendorId, productId }));
const vendor = (vendorId: string): UsbMatch[] => [{ vendorId, productId: null }];

/** Keys that are known without the FIDO usage page: OTP-only keys, and bank keys with a page of their maker's. */
const KNOWN: readonly UsbMatch[] = [
  // Yubico, each product id being one choice of the key's interfaces
  ...products('1050', '0010', '0110', '0111', '0112', '0113', '0114', '0115', '0116', '0120'),
  ...products('1050', '0401', '0402', '0403', '0404', '0405', '0406', '0407', '0410'),
  ...products('20a0', '4108', '4109', '42b1', '42b2', '42f3'), // Nitrokey
  ...products('1209', 'beee'), // Solo 2
  ...products('0483', 'a2ca'), // Solo
  ...products('18d1', '5026', '9470'), // Google Titan
  ...products('1d50', '60fc'), // OnlyKey
  ...products('234b', '0000'), // Gnuk
  ...vendor('349e'), // Token2
  ...vendor('096e'), // Feitian
  ...vendor('055c'), // Longmai
  ...vendor('163c'), // Watchdata
  ...vendor('14d6'), // Tendyron
  ...vendor('1ea8'), // Excelsecu
  ...vendor('2c97'), // Ledger
];

const VENDOR_NAMES: Readonly<Record<string, string>> = {
  '1050': 'Yubico',
  '20a0': 'Nitrokey',
  '349e': 'Token2',
  '096e': 'Feitian',
  '055c': 'Longmai',
  '163c': 'Watchdata',
  '14d6': 'Tendyron',
  '1ea8': 'Excelsecu',
  '2c97': 'Ledger',
};

/** The maker's name by vendor id, for keys whose own text gives none; null where the vendor is not in the table. */
export function vendorName(vendorId: string): string | null {
  return VENDOR_NAMES[vendorId] ?? null;
}

/**
 * Reads a setting that names keys: `vid:pid` or `vid` (every product), hex with or without `0x`; `vid:*` too.
 * Throws a RangeError that says what is wrong with the text.
 */
export function parseMatch(text: string): UsbMatch {
  const parts = /^(?:0x)?([0-9a-f]{1,4})(?::(?:(\*)|(?:0x)?([0-9a-f]{1,4})))?$/i.exec(text.trim());
  if (parts === null) throw new RangeError(`"${text}" names no USB key: write vid:pid or vid in hex, as in 096e:0850`);
  const id = (digits: string): string => digits.toLowerCase().padStart(4, '0');
  return { vendorId: id(parts[1]!), productId: parts[3] === undefined ? null : id(parts[3]) };
}

/** Pages 1:2 mouse, 1:6 keyboard, 1:7 keypad; the system's own input devices are never looked at for what they are. */
function isInput(usage: { usagePage: number; usage: number }): boolean {
  return usage.usagePage === 1 && [1, 2, 6, 7].includes(usage.usage);
}

/**
 * Says whether a device is a security key. A keyboard or mouse is one only where both its ids are listed (a YubiKey's
 * OTP side is a keyboard); a whole vendor is never enough for that.
 */
export function isSecurityKey(device: Candidate, extra: readonly UsbMatch[]): boolean {
  if (device.usages.some(u => u.usagePage === FIDO_USAGE_PAGE)) return true;
  const inputOnly = device.usages.every(isInput);
  return [...KNOWN, ...extra].some(
    match =>
      match.vendorId === device.vendorId &&
      (match.productId === null ? !inputOnly : match.productId === device.productId),
  );
}
