import type { CheckAction } from './events.ts';

/** Milliseconds within which the hardware service notices that a key was unplugged; its report can come later. */
const noticeMs = 1000;

/**
 * The verdict of a check; null if the key was unplugged. Reports of the hardware service can be late by any time, on a machine that is busy or while
 * the service is polled: a key may be gone when the report that it was plugged in arrives, or a badge names another person. The report of its
 * unplugging would then bind it to that person. So a key passes only if the service still has it (`isAttached`); one that was not plugged in for this
 * person, after the time in which the service notices that it is gone.
 */
export async function settled<V extends { readonly failure: unknown }>(
  { isNew, keyId }: CheckAction,
  check: Promise<V>,
  isAttached: (keyId: string) => Promise<boolean>,
): Promise<V | null> {
  const verdict = await check;
  if (verdict.failure !== null) return verdict;
  if (!isNew) await new Promise(resolve => setTimeout(resolve, noticeMs));
  return (await isAttached(keyId)) ? verdict : null;
}
