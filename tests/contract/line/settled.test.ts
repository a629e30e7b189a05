import { expect, onTestFinished, test, vi } from 'vitest';
import { settled } from '../../../src/enrollment/line/settled.ts';

test('a key passes if the service still has it, one that may be gone after the time in which the service notices; a failure is known at once', async () => {
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
  const all = [
    begin(false, 'wrong type'),
    begin(true, null),
    begin(true, null, 'k2'),
    begin(false, null, 'k3'),
    begin(false, null),
  ];
  await vi.advanceTimersByTimeAsync(999);
  expect(ended).toEqual(['false wrong type', 'true null', 'true unplugged']);
  expect(asked).toEqual(['k1', 'k2']);
  await vi.advanceTimersByTimeAsync(1);
  await Promise.all(all);
  expect(ended.slice(3)).toEqual(['false unplugged', 'false null']);
  expect(asked).toEqual(['k1', 'k2', 'k3', 'k1']);
});
