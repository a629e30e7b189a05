/** Which texts can be the PIN of a key. */

/** Why a text cannot be the PIN of a key: it has fewer characters, or more bytes, than `bound`. */
export interface PinFault {
  readonly what: 'short' | 'long';
  readonly bound: number;
}

/** Null if the text can be the PIN of the key. */
export type CheckPin = (pin: string) => PinFault | null;

/** Bytes of a PIN at most (FIDO CTAP 2.1, 6.5.1). */
const MAX_BYTES = 63;

/** Checks a PIN for a key that demands this length. */
export const checkFor =
  (minLength: number): CheckPin =>
  pin => {
    const text = pin.normalize('NFC');
    if ([...text].length < minLength) return { what: 'short', bound: minLength };
    return new TextEncoder().encode(text).length > MAX_BYTES ? { what: 'long', bound: MAX_BYTES } : null;
  };

/** The problem as a sentence without a period. */
export const pinFaultText = ({ what, bound }: PinFault): string =>
  what === 'short' ? `the PIN of this key has at least ${bound} characters` : `a PIN has at most ${bound} bytes`;
