import type { CheckAction } from './events.ts';

/** Milliseconds within which the unplugging of a key is reported. No event reports that no report is on its way, so only time can tell. */
const reportMs = 1000;

/**
 * The verdict of a check. A badge can be scanned, or the other of two keys removed, right after a key was unplugged and before that is
 * reported. The report would then bind the key if it had passed: a key that is not new passes only after the time that a report takes.
 */
export async function settled<V extends { readonly failure: unknown }>(
  { isNew }: CheckAction,
  check: Promise<V>,
): Promise<V> {
  const verdict = await check;
  if (!isNew && verdict.failure === null) await new Promise(resolve => setTimeout(resolve, reportMs));
  return verdict;
}
