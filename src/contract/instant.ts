/** ISO 8601: date, time to the minute or finer, and a zone. */
const shape = /^(\d{4})-(\d{2})-(\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/**
 * The time that an ISO 8601 text with a zone states; null if it is not one, states a day that its month does not have, or is in
 * a year that is longer than four digits in UTC.
 */
export function parseInstant(text: string): Date | null {
  const [, year, month, day] = text.length > 40 ? [] : (shape.exec(text) ?? []);
  if (day === undefined) return null;
  const daysOfMonth = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  const time = new Date(text);
  const isShort = time.getUTCFullYear() >= 0 && time.getUTCFullYear() <= 9999;
  return isShort && Number(day) <= daysOfMonth ? time : null;
}
