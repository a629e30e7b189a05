/** Which keys are attached, for every order in which events and lists can arrive. */
import { expect, test } from 'vitest';
import type { Key } from '../../../src/contract/hardware.ts';
import { KeyChanges } from '../../../src/enrollment/line/key-changes.ts';

/** `a` is a key with serial number A; `a?` is the same key before its serial number was readable. */
const keyOf = (name: string): Key =>
  ({ keyId: name[0], serialNumber: name.endsWith('?') ? null : name.slice(-1).toUpperCase() }) as Key;

/**
 * Runs steps: `+a` and `-a` are events, `(` requests a list, `)ab` is the oldest list in flight, `!` loses the stream.
 * Returns the reported changes in the same notation; `~` is a key that was reported before, and
 * `=a` follows a key that an earlier daemon knew as a.
 */
async function changesOf(steps: readonly string[]): Promise<string[]> {
  const changes: string[] = [];
  const lists: ((list: readonly Key[]) => Promise<void>)[] = [];
  const keys = new KeyChanges(({ type, key: { keyId, serialNumber }, again, before }) => {
    const sign = type === 'KEY_DETACHED' ? '-' : again ? '~' : '+';
    changes.push(`${sign}${keyId}${serialNumber === null ? '?' : ''}${before === null ? '' : `=${before}`}`);
  });
  for (const step of steps) {
    const [kind, name] = [step[0], step.slice(1)];
    if (kind === '+') keys.attach(keyOf(name));
    else if (kind === '-') keys.detach(keyOf(name));
    else if (kind === '!') keys.doubt();
    else if (kind === ')') await lists.shift()!(name.split(' ').filter(Boolean).map(keyOf));
    else {
      const { promise, resolve } = Promise.withResolvers<readonly Key[]>();
      const updated = keys.update(() => promise);
      lists.push(list => {
        resolve(list);
        return updated;
      });
    }
  }
  return changes;
}

test.each([
  ['reports a key once', ['+a', '+a', '(', ')a', '-a', '-a'], ['+a', '-a']],
  ['reports a key again when its serial number is readable', ['+a?', '+a?', '+a', '+a?'], ['+a?', '~a']],
  ['takes keys from a list that the stream missed', ['(', ')a b', '(', ')b c'], ['+a', '+b', '-a', '+c']],
  ['ignores a detached key in a list that was in flight', ['+a', '(', '-a', ')a', '+a'], ['+a', '-a', '+a']],
  ['ignores it until the last list has arrived', ['+a', '(', '(', '-a', ')a', ')a'], ['+a', '-a']],
  ['keeps a key that was attached while a list was in flight', ['(', '+a', ')'], ['+a']],
  ['replaces the id of an earlier daemon', ['+a', '!', '+ba', '(', ')ba'], ['+a', '-a', '+b=a']],
  ['finds the earlier id in a list too', ['+a', '!', '(', ')ba'], ['+a', '-a', '+b=a']],
  ['finds that of a key without a serial number', ['+a?', '!', '(', ')b?'], ['+a?', '-a?', '+b?=a']],
  ['uses each earlier id once', ['+a?', '!', '(', ')b? c?'], ['+a?', '-a?', '+b?=a', '+c?']],
  ['takes a key that was plugged in again for a new one', ['+a', '(', ')ba'], ['+a', '-a', '+b']],
  ['takes another key after a restart for a new one', ['+a', '!', '(', ')b'], ['+a', '-a', '+b']],
  ['keeps two keys with one serial number while the stream is connected', ['+a', '+ba'], ['+a', '+b']],
])('%s', async (_, steps, changes) => {
  expect(await changesOf(steps)).toEqual(changes);
});
