/** Which keys are attached, for every order in which events and lists can arrive. */
import { expect, test } from 'vitest';
import type { Key } from '../../../src/contract/hardware.ts';
import { KeyChanges, type KeyList } from '../../../src/enrollment/line/key-changes.ts';

/** `a` is a key with serial number A; `a?` is the same key before its serial number was readable. */
const keyOf = (name: string): Key =>
  ({
    keyId: name[0],
    serialNumber: name.endsWith('?') ? null : name.slice(-1).toUpperCase(),
    transport: 'PCSC',
    simulated: false,
  }) as Key;

/**
 * Runs steps: `+a` and `-a` are events, `x a` reports that a is not watched any more, `(` requests a list, `)ab` is the oldest list in
 * flight, `]` one of a driver that is unavailable, `!` loses the stream. Returns the reported changes in the same notation; `~` is a key
 * that was reported before, `*` follows what was not seen, and `=a` a key that an earlier daemon knew as a.
 */
async function changesOf(steps: readonly string[]): Promise<string[]> {
  const changes: string[] = [];
  const lists: ((list: KeyList) => Promise<void>)[] = [];
  const keys = new KeyChanges(({ type, key: { keyId, serialNumber }, again, before, isSeen }) => {
    const sign = type === 'KEY_DETACHED' ? '-' : again ? '~' : '+';
    const known = `${serialNumber === null ? '?' : ''}${before === null ? '' : `=${before}`}${isSeen ? '' : '*'}`;
    changes.push(`${sign}${keyId}${known}`);
  });
  for (const step of steps) {
    const [kind, name] = [step[0], step.slice(1)];
    if (kind === '+') keys.attach(keyOf(name));
    else if (kind === '-') keys.detach(keyOf(name));
    else if (kind === 'x') keys.detach({ ...keyOf(name.trim()), unplugged: false });
    else if (kind === '!') keys.doubt();
    else if (kind === ')' || kind === ']') {
      const drivers = [{ name: 'pcsc', state: kind === ')' ? 'ready' : 'unavailable' }] as const;
      await lists.shift()!({ list: name.split(' ').filter(Boolean).map(keyOf), drivers });
    } else {
      const { promise, resolve } = Promise.withResolvers<KeyList>();
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
  ['ignores in a list in flight what was detached before the stream had it', ['(', '-a', ')a'], []],
  ['does not take the end of a service for an unplugging', ['+a', 'x a', '+ba'], ['+a', '-a*', '+b*']],
  ['sees keys again when the reader is back and empty', ['+a', 'x a', '(', ')', '+b'], ['+a', '-a*', '+b']],
  [
    'sees none while the reader is away, or has what it had',
    ['+a', 'x a', '(', ']', '+b', '(', ')b', '+c', '-b', '-c', '(', ')', '+d'],
    ['+a', '-a*', '+b*', '+c*', '-b', '-c', '+d'],
  ],
  ['learns from a list that a service has ended', ['+a', '(', ']', '+b'], ['+a', '-a*', '+b*']],
  ['does not trust a list from before the end', ['(', '+a', 'x a', ')', '+b'], ['+a', '-a*', '+b*']],
  ['keeps two keys with one serial number while the stream is connected', ['+a', '+ba'], ['+a', '+b']],
])('%s', async (_, steps, changes) => {
  expect(await changesOf(steps)).toEqual(changes);
});

test('wants lists while a driver may be back with a key, and not while it is away', async () => {
  const keys = new KeyChanges(() => undefined);
  const update = (state: 'ready' | 'unavailable', ...list: Key[]) =>
    keys.update(async () => ({ list, drivers: [{ name: 'pcsc', state }] }));
  const wants: boolean[] = [];
  const steps = [
    () => update('unavailable'),
    () => update('ready'),
    () => keys.attach(keyOf('a')),
    () => keys.detach({ ...keyOf('a'), unplugged: false }),
    () => update('unavailable'),
    () => keys.attach(keyOf('b')),
    () => update('ready', keyOf('b')),
    () => update('ready'),
  ];
  for (const step of steps) {
    await step();
    wants.push(keys.isBlind);
  }
  expect(wants).toEqual([false, false, false, true, false, true, true, false]);
});
