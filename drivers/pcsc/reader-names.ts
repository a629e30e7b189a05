/** Facts about a PC/SC reader in its name, if nothing else is known about it. */
import { PRODUCT, VENDOR, YUBIKEY } from '../usb/ids.ts';

/** Readers inside security keys. The keys are found over USB, and no SIM fits into them. */
const SECURITY_KEY =
  /yubico|yubikey|nitrokey|token2|solokeys|solo 2|gnuk|fsij|canokey|onlykey|feitian epass|trustkey|thetis|excelsecu/i;

/** Whether the reader is built into a security key. */
export function isSecurityKeyReader(reader: string): boolean {
  return SECURITY_KEY.test(reader);
}

const CONTACTLESS_NAME = /contactless|nfc|picc|\bCL\b|acr12[0-9]|pn53|felica|rfid/i;

/**
 * Whether a card has no contacts: by the name of the reader, or by the ATR. PC/SC part 3 (3.1.3.2.3) prescribes the ATR that
 * a reader makes up for such a card: 3B 8n 80 01 ….
 */
export function isContactless(reader: string, atr: Uint8Array): boolean {
  const madeUp = atr[0] === 0x3b && ((atr[1] ?? 0) & 0xf0) === 0x80 && atr[2] === 0x80 && atr[3] === 0x01;
  return madeUp || CONTACTLESS_NAME.test(reader);
}

/** USB ids as four lower-case hex digits. */
interface UsbIds {
  readonly vendorId: string;
  readonly productId: string;
}

/** Keys that have no interface but the reader if the reader has this name: the HID driver never finds them. */
const CARD_ONLY_KEYS: readonly (UsbIds & { readonly name: RegExp })[] = [
  { name: /^Yubico Yubikey NEO CCID\b/i, vendorId: VENDOR.YUBICO, productId: YUBIKEY.NEO_CCID },
  { name: /^Yubico YubiKey CCID\b/i, vendorId: VENDOR.YUBICO, productId: YUBIKEY.YK4_CCID },
  { name: /Nitrokey Start\b/i, vendorId: VENDOR.NITROKEY, productId: PRODUCT.NITROKEY_START },
  { name: /\b(?:Gnuk|FSIJ)\b/i, vendorId: VENDOR.FSIJ, productId: PRODUCT.GNUK },
];

/** The USB ids of a key that has only its reader; null if the key has, or may have, other interfaces. */
export function cardOnlyKeyIds(reader: string): UsbIds | null {
  return CARD_ONLY_KEYS.find(({ name }) => name.test(reader)) ?? null;
}

const MAKERS: readonly { readonly name: RegExp; readonly vendorId: string }[] = [
  { name: /yubico|yubikey/i, vendorId: VENDOR.YUBICO },
  { name: /nitrokey/i, vendorId: VENDOR.NITROKEY },
  { name: /token2/i, vendorId: VENDOR.TOKEN2 },
  { name: /thetis|excelsecu/i, vendorId: VENDOR.EXCELSECU },
];

/** The vendor id of the maker in the reader's name; null for other makers. */
export function makerOf(reader: string): string | null {
  return MAKERS.find(({ name }) => name.test(reader))?.vendorId ?? null;
}

/** `Maker Product [interface] (serial) 00 01`, as pcscd composes the name of a reader: parsed from its end. */
const NUMBERS = / [0-9A-F]{2} [0-9A-F]{2}$/;
const SERIAL = / \(([^()]*)\)$/;
const INTERFACE = / \[[^[\]]*\]$/;

/** The parts of a reader's name. */
interface ReaderNameParts {
  readonly manufacturer: string | null;
  /** The whole name if it does not have the expected form. */
  readonly product: string;
  /** The serial of the USB descriptor; null if it has none. */
  readonly serial: string | null;
}

/** Splits the name of a reader. */
export function parseReaderName(reader: string): ReaderNameParts {
  const [, manufacturer, rest] = /^(\S+) (.+)$/.exec(reader) ?? [];
  const named = rest?.replace(NUMBERS, '');
  if (manufacturer === undefined || !named || named === rest)
    return { manufacturer: null, product: reader, serial: null };
  const product = named.replace(SERIAL, '').replace(INTERFACE, '');
  return { manufacturer, product, serial: SERIAL.exec(named)?.[1] ?? null };
}
