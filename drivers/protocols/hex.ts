/** Upper-case hex digits of the bytes, without separators. */
export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex').toUpperCase();
}

/** The bytes of hex digits; spaces between them are allowed. Only for constants of the program, not for input: throws a TypeError. */
export function fromHex(hex: string): Uint8Array {
  const digits = hex.replaceAll(' ', '');
  if (!/^([0-9A-Fa-f]{2})*$/.test(digits)) throw new TypeError(`not hex: ${hex}`);
  return new Uint8Array(Buffer.from(digits, 'hex'));
}

/** All bytes in one new array. */
export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}
