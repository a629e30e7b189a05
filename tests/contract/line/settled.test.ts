import { expect, onTestFinished, test, vi } from 'vitest';
import { settled } from '../../../src/enrollment/line/settled.ts';

test('a key that may be gone passes after the time that the report of its unplugging takes; a failure is known at once', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const action = { type: 'check', attempt: 1, keyId: 'k1', person: 0 } as const;
  const ended: string[] = [];
  const begin = (isNew: boolean, failure: string | null) =>
    settled({ ...action, isNew }, Promise.resolve({ failure })).then(verdict =>
      ended.push(`${isNew} ${verdict.failure}`),
    );
  const all = [begin(true, null), begin(false, 'wrong type'), begin(false, null)];
  await vi.advanceTimersByTimeAsync(999);
  expect(ended).toEqual(['true null', 'false wrong type']);
  await vi.advanceTimersByTimeAsync(1);
  await Promise.all(all);
  expect(ended.at(-1)).toBe('false null');
});
