/** What the name of a reader inside a security key tells, where nothing else is known of it. */

interface Named {
  readonly name: RegExp;
  readonly vendorId: string;
  readonly productId: string;
}

/** Keys that show nothing but a reader when they are named so: no HID driver will ever see them. */
const READER_ALONE: readonly Named[] = [
  { name: /^Yubico Yubikey NEO CCID\b/i, vendorId: '1050', productId: '0112' },
  { name: /^Yubico YubiKey CCID\b/i, vendorId: '1050', productId: '0404' },
  { name: /Nitrokey Start\b/i, vendorId: '20a0', productId: '4211' },
  { name: /\b(?:Gnuk|FSIJ)\b/i, vendorId: '234b', productId: '0000' },
];

const MAKERS: readonly { readonly name: RegExp; readonly vendorId: string }[] = [
  { name: /yubico|yubikey/i, vendorId: '1050' },
  { name: /nitrokey/i, vendorId: '20a0' },
  { name: /token2/i, vendorId: '349e' },
];

/** USB ids (four lower-case hex digits) by the reader's name; null where the key has other interfaces too, or may have. */
export function aloneByName(reader: string): { readonly vendorId: string; readonly productId: string } | null {
  return READER_ALONE.find(({ name }) => name.test(reader)) ?? null;
}

/** The vendor id of the maker that the reader is named after, or null. */
export function makerByName(reader: string): string | null {
  return MAKERS.find(({ name }) => name.test(reader))?.vendorId ?? null;
}

/** `Maker Product [interface] (serial) 00 01`, as pcscd puts a reader's name together: taken apart from its end. */
const NUMBERS = / [0-9A-F]{2} [0-9A-F]{2}$/;
const SERIAL = / \(([^()]*)\)$/;
const INTERFACE = / \[[^[\]]*\]$/;

/** Maker, product and serial out of a reader's name; the serial is that of the USB descriptor, null where it has none. */
export function partsOfName(reader: string): {
  readonly manufacturer: string | null;
  readonly product: string;
  readonly serial: string | null;
} {
  const [, manufacturer, rest] = /^(\S+) (.+)$/.exec(reader) ?? [];
  const named = rest?.replace(NUMBERS, '');
  if (manufacturer === undefined || !named || named === rest)
    return { manufacturer: null, product: reader, serial: null };
  const product = named.replace(SERIAL, '').replace(INTERFACE, '');
  return { manufacturer, product, serial: SERIAL.exec(named)?.[1] ?? null };
}
