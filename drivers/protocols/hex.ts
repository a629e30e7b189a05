/** Upper-case hex digits of the bytes, without separators. */
export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex').toUpperCase();
}

/** Bytes of hex digits; blanks between them are allowed. For constants of this program, not for input. */
export function fromHex(hex: string): Uint8Array {
  const digits = hex.replaceAll(' ', '');
  if (!/^([0-9A-Fa-f]{2})*$/.test(digits)) throw new TypeError(`not hex: ${hex}`);
  return new Uint8Array(Buffer.from(digits, 'hex'));
}

export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}
