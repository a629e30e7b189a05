/** Times and amounts for people. Programs get ISO 8601 in UTC, as the server sent it. */
import { counted } from '../count.ts';
import { safe } from './text.ts';

/** Seconds. A year has 365 days, so that a code that is valid for 365 days is valid for a year. */
const units = [
  ['year', 31_536_000],
  ['month', 2_629_800],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** "In 23:59:59" reads "in 1 day": this share of a unit may be missing. */
const tolerance = 0.01;

const twoDigits = (value: number) => String(value).padStart(2, '0');

/**
 * Local time, `2026-11-21 16:29`: the one form in which people see a time. `seconds` adds them, for lines that follow each
 * other closely. A text that is not a time is returned, made safe; null stays null.
 */
export function localTime(iso: string, options?: { readonly seconds?: boolean }): string;
export function localTime(iso: string | null): string | null;
export function localTime(iso: string | null, { seconds = false } = {}): string | null {
  if (iso === null) return null;
  const [day, time] = dayAndTime(iso, false);
  return `${day} ${seconds ? time : time.slice(0, 5)}`.trim();
}

/** `2026-11-21` and `16:29:05`, local or in UTC (`16:29:05Z`). A text that is not a time is the day, made safe, without a time. */
export function dayAndTime(iso: string, utc: boolean): readonly [day: string, time: string] {
  // A server can leave out any field.
  if (typeof iso !== 'string') return ['-', ''];
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return [safe(iso), ''];
  if (utc) return [date.toISOString().slice(0, 10), `${date.toISOString().slice(11, 19)}Z`];
  const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(twoDigits).join('-');
  return [day, [date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(':')];
}

/** Local time and how far away it is: `2026-11-21 16:29 (in 3 days)`. */
export function timeAndDistance(iso: string): string {
  return Number.isNaN(Date.parse(iso)) ? safe(String(iso ?? '-')) : `${localTime(iso)} (${relative(iso)})`;
}

/** "3 days ago", "in 2 hours", "just now"; never without the time itself. A text that is not a time is returned, made safe. */
export function relative(iso: string, now = Date.now()): string {
  const time = typeof iso === 'string' ? Date.parse(iso) : Number.NaN;
  if (Number.isNaN(time)) return safe(String(iso ?? '-'));
  const seconds = Math.round((now - time) / 1000);
  const size = Math.abs(seconds);
  for (const [unit, length] of units) {
    const count = Math.floor(size / length + tolerance);
    if (count > 0) return seconds > 0 ? `${counted(count, unit)} ago` : `in ${counted(count, unit)}`;
  }
  return size < 10 ? 'just now' : seconds > 0 ? `${size} seconds ago` : `in ${size} seconds`;
}

/** A length of time in seconds: "2h 05m", "3m 12s", "8s". */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole >= 3600) return `${Math.floor(whole / 3600)}h ${twoDigits(Math.floor((whole % 3600) / 60))}m`;
  if (whole >= 60) return `${Math.floor(whole / 60)}m ${twoDigits(whole % 60)}s`;
  return `${whole}s`;
}

/** How long work took, for the end of a sentence: " in 12s"; '' if it was less than a second. */
export const spent = (seconds: number): string => (seconds < 1 ? '' : ` in ${duration(seconds)}`);

/** An amount of bytes in units of 1024: "1.4 GiB". */
export function bytes(count: number): string {
  const names = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let amount = count;
  let name = 0;
  while (amount >= 1024 && name < names.length - 1) {
    amount /= 1024;
    name++;
  }
  return name === 0 ? `${safe(String(count))} B` : `${amount.toFixed(1)} ${names[name]}`;
}
