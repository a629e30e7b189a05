/**
 * USB vendor and product ids of security keys, four lower-case hex digits each.
 * Sources: Yubico/yubikey-manager (`PID` in yubikit/core/__init__.py); Yubico/libu2f-host (70-u2f.rules) for the FIDO keys
 * of other makers; nitrokey-sdk-py for Nitrokey and Solo 2.
 */

/** Vendor ids by maker. */
export const VENDOR = {
  YUBICO: '1050',
  NITROKEY: '20a0',
  TOKEN2: '349e',
  FEITIAN: '096e',
  LONGMAI: '055c',
  WATCHDATA: '163c',
  TENDYRON: '14d6',
  EXCELSECU: '1ea8',
  LEDGER: '2c97',
  GOOGLE: '18d1',
  /** pid.codes: shared by many makers. */
  PID_CODES: '1209',
  /** OpenMoko: shared by many makers. */
  OPENMOKO: '1d50',
  ST_MICROELECTRONICS: '0483',
  FSIJ: '234b',
} as const;

const MAKER_NAMES: Readonly<Record<string, string>> = {
  [VENDOR.YUBICO]: 'Yubico',
  [VENDOR.NITROKEY]: 'Nitrokey',
  [VENDOR.TOKEN2]: 'Token2',
  [VENDOR.FEITIAN]: 'Feitian',
  [VENDOR.LONGMAI]: 'Longmai',
  [VENDOR.WATCHDATA]: 'Watchdata',
  [VENDOR.TENDYRON]: 'Tendyron',
  [VENDOR.EXCELSECU]: 'Excelsecu',
  [VENDOR.LEDGER]: 'Ledger',
};

/** The maker's name, for keys whose descriptor has none; null for a vendor that is not in the table. */
export function makerName(vendorId: string): string | null {
  return MAKER_NAMES[vendorId] ?? null;
}

/**
 * Yubico's product ids. Each names a product line (YKS: YubiKey Standard, NEO, SKY: Security Key, YK4: YubiKey 4 and 5,
 * YKP: YubiKey Plus) and the interfaces that are switched on.
 */
export const YUBIKEY = {
  YKS_OTP: '0010',
  NEO_OTP: '0110',
  NEO_OTP_CCID: '0111',
  NEO_CCID: '0112',
  NEO_FIDO: '0113',
  NEO_OTP_FIDO: '0114',
  NEO_FIDO_CCID: '0115',
  NEO_OTP_FIDO_CCID: '0116',
  SKY_FIDO: '0120',
  YK4_OTP: '0401',
  YK4_FIDO: '0402',
  YK4_OTP_FIDO: '0403',
  YK4_CCID: '0404',
  YK4_OTP_CCID: '0405',
  YK4_FIDO_CCID: '0406',
  YK4_OTP_FIDO_CCID: '0407',
  YKP_OTP_FIDO: '0410',
} as const;

/** Product ids of the other makers. */
export const PRODUCT = {
  NITROKEY_PRO: '4108',
  NITROKEY_STORAGE: '4109',
  NITROKEY_START: '4211',
  NITROKEY_FIDO2: '42b1',
  NITROKEY_3: '42b2',
  NITROKEY_PASSKEY: '42f3',
  SOLO: 'a2ca',
  SOLO_2: 'beee',
  GOOGLE_TITAN_1: '5026',
  GOOGLE_TITAN_2: '9470',
  ONLYKEY: '60fc',
  GNUK: '0000',
} as const;

/** An interface of a YubiKey, as the names of its product ids spell it. */
type YubiKeyInterface = 'OTP' | 'FIDO' | 'CCID';

/** The product ids of those YubiKeys that have this interface switched on. */
export function yubiKeysWith(one: YubiKeyInterface): string[] {
  return Object.entries(YUBIKEY).flatMap(([name, id]) => (name.split('_').includes(one) ? [id] : []));
}
