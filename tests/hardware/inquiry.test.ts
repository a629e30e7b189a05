/** The table of when the result of asking a key is accepted. */
import { describe, expect, it } from 'vitest';
import { HardwareError, type HardwareErrorCode } from '../../drivers/hardware-error.ts';
import { Inquiry, type InquiryAttempt, isSettled, PATIENCE } from '../../drivers/hid/inquiry.ts';
import type { KeyIdentity } from '../../drivers/protocols/identify-key.ts';

function identity(serial: string | null, unsettled: HardwareErrorCode | null, provisional = false): KeyIdentity {
  return {
    verdict: (serial === null ? { serial, problem: 'none' } : { serial, problem: null }) as KeyIdentity['verdict'],
    source: null,
    firmwareVersion: null,
    unsettled: unsettled && new HardwareError(unsettled, unsettled),
    provisional,
  };
}

const attempt = (one: KeyIdentity, elapsed: number, more: Partial<InquiryAttempt> = {}): InquiryAttempt => ({
  identity: one,
  elapsed,
  patience: PATIENCE,
  changed: false,
  ...more,
});

describe('the result of an attempt', () => {
  it.each<[string, InquiryAttempt, boolean]>([
    ['a final serial', attempt(identity('A', null), 0), true],
    ['a final result without a serial', attempt(identity(null, null), 0), true],
    ['a final serial of a key that changed', attempt(identity('A', null), 0, { changed: true }), true],
    ['a missing interface, before 5 s', attempt(identity(null, 'unavailable'), 4_999), false],
    ['a missing interface, after 5 s', attempt(identity(null, 'unavailable'), 5_000), true],
    ['a missing permission, before 5 s', attempt(identity(null, 'no-permission'), 4_999), false],
    ['no answer, before 2.5 s', attempt(identity(null, 'timeout'), 2_499), false],
    ['no answer, after 2.5 s', attempt(identity(null, 'timeout'), 2_500), true],
    ['an invalid answer, before 1 s', attempt(identity(null, 'protocol'), 999), false],
    ['an invalid answer, after 1 s', attempt(identity(null, 'protocol'), 1_000), true],
    ['a serial from a lesser source, after 1 s', attempt(identity('A', 'unavailable'), 1_000), true],
    ['a provisional serial, before 5 s', attempt(identity('A', 'unavailable', true), 4_999), false],
    ['a provisional serial, after 5 s', attempt(identity('A', 'unavailable', true), 5_000), true],
    ['a failure of a key that changed', attempt(identity(null, 'timeout'), 5_000, { changed: true }), false],
    ['a failure without patience', attempt(identity(null, 'no-permission'), 0, { patience: 0 }), true],
  ])('%s is accepted or not', (_name, one, expected) => {
    expect(isSettled(one)).toBe(expected);
  });
});

describe('an inquiry', () => {
  it('asks again at once after a change during the attempt', async () => {
    const results = [identity(null, 'timeout'), identity('A', null)];
    let attempts = 0;
    const inquiry: Inquiry = new Inquiry(async () => {
      if (attempts === 0) inquiry.keyChanged();
      return results[attempts++]!;
    }, new AbortController().signal);
    expect((await inquiry.run(0))?.verdict.serial).toBe('A');
    expect(attempts).toBe(2);
  });

  it('has no result if the key was unplugged during the attempt', async () => {
    const removed = new AbortController();
    const inquiry = new Inquiry(async () => {
      removed.abort();
      return identity('A', null);
    }, removed.signal);
    expect(await inquiry.run(PATIENCE)).toBeNull();
  });

  it('ends its pause when the key is unplugged', async () => {
    const removed = new AbortController();
    const inquiry = new Inquiry(async () => identity(null, 'unavailable'), removed.signal);
    const running = inquiry.run(PATIENCE);
    // By the next turn of the event loop the first attempt is over.
    setImmediate(() => removed.abort());
    await expect(running).rejects.toMatchObject({ code: 'aborted' });
  });
});
