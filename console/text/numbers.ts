/** Numbers, dates and times, as the language of the page writes them. */

const locale = () => document.documentElement.lang || 'en';

/** A whole number with separators. */
export const grouped = (number: number): string => number.toLocaleString(locale());

/** A moment in local time, to the second. */
export const moment = (iso: string): string =>
  new Date(iso).toLocaleString(locale(), { dateStyle: 'medium', timeStyle: 'medium' });

/** The date of a moment in local time. */
export const day = (iso: string): string => new Date(iso).toLocaleDateString(locale(), { dateStyle: 'medium' });

/** The hour and minute of a moment in local time. */
export const clock = (iso: string): string => new Date(iso).toLocaleTimeString(locale(), { timeStyle: 'short' });

/** The day and hour of a moment in local time. */
export const hour = (iso: string): string =>
  new Date(iso).toLocaleString(locale(), { weekday: 'short', hour: '2-digit', minute: '2-digit' });
