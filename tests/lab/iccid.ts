/** The ICCID with this number: 18 digits and their Luhn digit. Computed without the code under test. */
export function iccid(number: number): string {
  const digits = `8986${String(number).padStart(14, '0')}`;
  const sum = [...digits].reduce((total, digit, i) => {
    const doubled = Number(digit) * (i % 2 === digits.length % 2 ? 1 : 2);
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return digits + ((10 - (sum % 10)) % 10);
}
