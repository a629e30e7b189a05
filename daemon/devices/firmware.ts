/** Firmware versions: up to four numbers with dots. */

const form = /^\d{1,9}(?:\.\d{1,9}){0,3}$/;

/** The numbers of a version; null if it is not one. */
function numbersOf(version: string): number[] | null {
  return form.test(version) ? version.split('.').map(Number) : null;
}

/** Negative if `one` is older than `other`, 0 if they are equal. Missing parts count as 0. Null if either is not a version. */
export function compareFirmware(one: string, other: string): number | null {
  const [a, b] = [numbersOf(one), numbersOf(other)];
  if (!a || !b) return null;
  for (let part = 0; part < 4; part++) {
    const difference = (a[part] ?? 0) - (b[part] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
