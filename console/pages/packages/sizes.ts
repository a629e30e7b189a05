/** Sizes of files in words. */

/** A number of bytes in a unit that fits: 1 MiB is 1,048,576 bytes. */
export function sizeOf(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const locale = document.documentElement.lang || 'en';
  const number = (bytes / 1024 ** power).toLocaleString(locale, { maximumFractionDigits: power ? 1 : 0 });
  return `${number} ${units[power]}`;
}
