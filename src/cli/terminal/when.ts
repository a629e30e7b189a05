/** Times for people. Scripts get them as they are. */
import { safe } from './text.ts';

const units = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

const many = (count: number, unit: string) => `${count} ${unit}${count === 1 ? '' : 's'}`;

/** "3 days ago", "in 2 hours", "just now"; a text that is no time is given back, made safe. */
export function relative(iso: string, now = Date.now()): string {
  const time = Date.parse(iso);
  if (Number.isNaN(time)) return safe(iso);
  const seconds = Math.round((now - time) / 1000);
  const size = Math.abs(seconds);
  for (const [unit, length] of units) {
    if (size < length) continue;
    const amount = many(Math.floor(size / length), unit);
    return seconds > 0 ? `${amount} ago` : `in ${amount}`;
  }
  return size < 10 ? 'just now' : seconds > 0 ? `${size} seconds ago` : `in ${size} seconds`;
}

/** A length of time in seconds: "2h 05m", "3m 12s", "8s". */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole >= 3600) return `${Math.floor(whole / 3600)}h ${String(Math.floor((whole % 3600) / 60)).padStart(2, '0')}m`;
  if (whole >= 60) return `${Math.floor(whole / 60)}m ${String(whole % 60).padStart(2, '0')}s`;
  return `${whole}s`;
}

/** Bytes: "1.4 GiB". */
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
