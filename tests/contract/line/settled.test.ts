import { expect, onTestFinished, test, vi } from 'vitest';
import { settled } from '../../../src/enrollment/line/settled.ts';

test('a key that may be gone passes if the service still has it after the time in which it notices; a failure is known at once', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const action = { type: 'check', attempt: 1, keyId: 'k1', person: 0 } as const;
  const ended: string[] = [];
  const asked: string[] = [];
  const begin = (isNew: boolean, failure: string | null, keyId = 'k1') =>
    settled({ ...action, keyId, isNew }, Promise.resolve({ failure }), async wanted => {
      asked.push(wanted);
      return wanted === 'k1';
    }).then(verdict => ended.push(`${isNew} ${verdict === null ? 'unplugged' : verdict.failure}`));
  const all = [begin(true, null), begin(false, 'wrong type'), begin(false, null), begin(false, null, 'k2')];
  await vi.advanceTimersByTimeAsync(999);
  expect([ended, asked]).toEqual([['true null', 'false wrong type'], []]);
  await vi.advanceTimersByTimeAsync(1);
  await Promise.all(all);
  expect(ended.slice(2)).toEqual(['false null', 'false unplugged']);
  expect(asked).toEqual(['k1', 'k2']);
});
