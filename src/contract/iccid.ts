/** Numbers of SIM cards (ICCID, ITU-T E.118) as serial numbers: 20 half bytes; a shorter number has F after it. */

const LENGTH = 20;
const filled = /^89[\dA-Ea-e]+[Ff]+$/;
const number = /^89[\dA-Ea-e]{16,17}$/;
const anyNumber = /^89[\dA-Fa-f]{16,18}$/;

/** The number of a card without its filler; any other text as it is. */
export const cardNumber = (serial: string): string =>
  serial.length === LENGTH && filled.test(serial) ? serial.slice(0, serial.search(/[Ff]/)) : serial;

/** Whether a text can be the number of a card. */
export const isCardNumber = (text: string): boolean => anyNumber.test(text);

/** The serial numbers under which a device can be registered: this one first, for a card also with and without the filler. */
export function formsOf(serial: string): readonly string[] {
  const bare = cardNumber(serial);
  if (!number.test(bare)) return [serial];
  return [...new Set([serial, bare, bare.padEnd(LENGTH, 'F'), bare.padEnd(LENGTH, 'f')])];
}

/**
 * Whether a number of 19 digits ends with a check digit (Luhn) of the others; true for any other length. Lists are seen whose
 * check digits are right for the digits after the leading 8 only: these count as right.
 */
export const isCheckDigitRight = (digits: string): boolean =>
  !/^\d{19}$/.test(digits) || isLuhnValid(digits) || isLuhnValid(digits.slice(1));

/** The check digit of numbers without it, as the number of another card has it; null without a valid one. */
export function checkDigitsLike(number: string): ((body: string) => string) | null {
  const skipped = /^89\d{17}$/.test(number) ? [0, 1].find(first => isLuhnValid(number.slice(first))) : undefined;
  if (skipped === undefined) return null;
  return body => '0123456789'.split('').find(digit => isLuhnValid(body.slice(skipped) + digit))!;
}

function isLuhnValid(digits: string): boolean {
  let sum = 0;
  [...digits].reverse().forEach((digit, index) => {
    const doubled = Number(digit) * (index % 2 === 0 ? 1 : 2);
    sum += doubled > 9 ? doubled - 9 : doubled;
  });
  return sum % 10 === 0;
}
