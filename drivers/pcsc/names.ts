/** Readers that are part of a security key: the key is recognised over USB, and its reader is no place for a SIM. */
const PART_OF_A_KEY =
  /yubico|yubikey|nitrokey|token2|solokeys|solo 2|gnuk|fsij|canokey|onlykey|feitian epass|trustkey/i;

export function isPartOfAKey(reader: string): boolean {
  return PART_OF_A_KEY.test(reader);
}

const CONTACTLESS_NAME = /contactless|nfc|picc|\bCL\b|acr12[0-9]|pn53|felica|rfid/i;

/**
 * Whether a card was reached without contacts: by the reader's name, or by the answer to reset that PC/SC prescribes to
 * readers which must invent one for a card that has none (3B 8n 80 01 …).
 */
export function isContactless(reader: string, atr: Uint8Array): boolean {
  const invented = atr[0] === 0x3b && ((atr[1] ?? 0) & 0xf0) === 0x80 && atr[2] === 0x80 && atr[3] === 0x01;
  return invented || CONTACTLESS_NAME.test(reader);
}
