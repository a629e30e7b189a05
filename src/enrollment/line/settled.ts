import type { CheckAction } from './events.ts';

/** Milliseconds within which the hardware service notices that a key was unplugged; its report can come later. */
const noticeMs = 1000;

/**
 * The verdict of a check; null if the key was unplugged. On a busy machine, or while the service is polled, reports of the hardware service
 * can be late by any time. A key may already be unplugged when its plug-in report arrives or when a badge names another person; the late
 * unplug report would then bind the key to that person. So a key passes only if the service still reports it (`isAttached`). For a key that
 * was not plugged in for this person, that is asked only after the time in which the service notices an unplugged key.
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
