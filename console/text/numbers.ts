/** Numbers, dates and times, as the language of the page writes them. */

const locale = () => document.documentElement.lang || 'en';

/** Formatters in the language of the page. It is slow to make, and a page formats hundreds of numbers and times. */
function formatter<F>(make: (locale: string) => F): () => F {
  const made = new Map<string, F>();
  return () => {
    const found = made.get(locale()) ?? make(locale());
    made.set(locale(), found);
    return found;
  };
}

const numbers = formatter(name => new Intl.NumberFormat(name));

/** A number with separators. Counts are written without Intl, whose first use in a tab takes about 30 ms. */
export function grouped(number: number): string {
  if (!Number.isInteger(number) || number < 0) return numbers().format(number);
  if (number < 1000) return `${number}`;
  const end = `${number % 1000}`.padStart(3, '0');
  return `${grouped(Math.trunc(number / 1000))}${locale() === 'de' ? '.' : ','}${end}`;
}

const plurals = formatter(name => new Intl.PluralRules(name));

/** The words of one, or of any other number, by the rules of the language. */
export const plural = (count: number, one: string, other: string): string =>
  plurals().select(count) === 'one' ? one : other;

/** A number with the words that it needs. */
export const counted = (count: number, one: string, other: string): string =>
  `${grouped(count)} ${plural(count, one, other)}`;

/** A part of a date or a time with two digits. */
export const twoDigits = (part: number): string => `${part}`.padStart(2, '0');

/** Writes moments as local time. */
function written(options: Intl.DateTimeFormatOptions): (iso: string) => string {
  const format = formatter(name => new Intl.DateTimeFormat(name, options));
  return iso => format().format(new Date(iso));
}

/** A moment in local time, to the second. */
export const moment = written({ dateStyle: 'medium', timeStyle: 'medium' });

/** The day of a moment in local time. */
export const dayOf = written({ dateStyle: 'full' });

/** The hour and minute of a moment in local time. */
export const clock = written({ timeStyle: 'short' });

/** Seconds of each unit, the longest first. */
const units = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** A length of time in its largest unit of a minute, hour or day and the next one: `3 hr, 20 min`. */
export function duration(seconds: number): string {
  const at = units.findIndex(([unit, length]) => unit !== 'year' && unit !== 'month' && seconds >= length);
  if (at < 0) return inUnit(seconds, 'second');
  const [[unit, length], next] = [units[at] ?? units[4], units[at + 1]];
  const rest = next && Math.floor((seconds % length) / next[1]);
  const first = inUnit(Math.floor(seconds / length), unit);
  return rest ? `${first} ${inUnit(rest, next[0])}` : first;
}

const inUnit = (count: number, unit: string): string =>
  count.toLocaleString(locale(), { style: 'unit', unit, unitDisplay: 'short' });

/** A unit of a distance in time. */
export type DistanceUnit = (typeof units)[number][0];

/** The distance of a moment from now in its largest unit, negative in the past; 0 below a minute. `now`: milliseconds since 1970. */
export function distance(iso: string, now: number): readonly [count: number, unit: DistanceUnit] {
  const seconds = (Date.parse(iso) - now) / 1000;
  const [unit, length] = units.find(([, each]) => Math.abs(seconds) >= each) ?? ['minute', 60];
  return [Math.trunc(seconds / length), unit];
}

/** A number of bytes in a unit that fits: 1 MiB is 1,048,576 bytes. */
export function sizeOf(bytes: number): string {
  const names = ['B', 'KiB', 'MiB', 'GiB'];
  const power = Math.min(names.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const number = (bytes / 1024 ** power).toLocaleString(locale(), { maximumFractionDigits: power ? 1 : 0 });
  return `${number} ${names[power]}`;
}
