import type { CheckAction } from './events.ts';

/**
 * Milliseconds within which the hardware service notices that a key was unplugged. After this time without a report it knows, though the report
 * may still be on its way.
 */
const noticeMs = 1000;

/**
 * The verdict of a check; null if the key was unplugged. A key may have been unplugged just before a badge was scanned or the other of two keys was
 * removed, and its report may still arrive. That report would bind a key that has passed. So a key that was not plugged in for this person
 * passes only if the hardware service still has it then: `isAttached` asks it, because a report can be late by any time, on a machine that is busy or while the service is
 * polled.
 */
export async function settled<V extends { readonly failure: unknown }>(
  { isNew, keyId }: CheckAction,
  check: Promise<V>,
  isAttached: (keyId: string) => Promise<boolean>,
): Promise<V | null> {
  const verdict = await check;
  if (isNew || verdict.failure !== null) return verdict;
  await new Promise(resolve => setTimeout(resolve, noticeMs));
  return (await isAttached(keyId)) ? verdict : null;
}
