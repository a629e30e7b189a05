import type { CheckAction } from './events.ts';

/**
 * Milliseconds within which the unplugging of a key is reported. After this time without a report, the key is still plugged in.
 */
const reportMs = 1000;

/**
 * The verdict of a check. A key may have been unplugged just before a badge was scanned or the other of two keys was removed, and
 * its report may still arrive. That report would bind a key that has passed. So a key that was not plugged in for this person
 * passes only after the time that a report takes.
 */
export async function settled<V extends { readonly failure: unknown }>(
  { isNew }: CheckAction,
  check: Promise<V>,
): Promise<V> {
  const verdict = await check;
  if (!isNew && verdict.failure === null) await new Promise(resolve => setTimeout(resolve, reportMs));
  return verdict;
}
