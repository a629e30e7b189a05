/** The state machine of a roster run: what is bound to whom, in every order of events. */
import { describe, expect, test } from 'vitest';
import type { BindsWhen, LineAction, LineEvent } from '../../../src/enrollment/line/events.ts';
import { Line } from '../../../src/enrollment/line/line.ts';
import type { Person } from '../../../src/enrollment/line/people.ts';

const person = (userId: string, more: Partial<Person> = {}): Person => ({
  userId,
  name: null,
  type: null,
  wanted: 1,
  ...more,
});
const three = [person('alice', { name: 'Alice Meier' }), person('bob', { wanted: 2 }), person('carol')];

/** A line whose checks and commits end when the test releases them. */
function lineOf(people: readonly Person[] | null = three, done: readonly number[] = [], ...more: [] | [BindsWhen]) {
  const line = new Line(people, done, ...more);
  const all: LineAction[] = [];
  const take = (event: LineEvent) => {
    const actions = line.take(event);
    all.push(...actions);
    return actions;
  };
  const plug = (keyId: string) => take({ type: 'plug', keyId });
  const pull = (keyId: string) => take({ type: 'pull', keyId });
  const checked = (passed = true) => take({ type: 'checked', attempt: line.attempt, passed });
  const committed = (passed = true) => take({ type: 'committed', attempt: line.attempt, passed });
  const said = () => all.flatMap(action => (action.type === 'say' ? [action.what] : []));
  const bindings = () =>
    all.flatMap(action =>
      action.type === 'commit' ? [`${line.rows.people[action.person]!.userId} ${action.keyId}`] : [],
    );
  return { line, take, plug, pull, checked, committed, said, bindings };
}

describe('a key that has passed its check', () => {
  test('is bound when it is unplugged, and the next person is named', () => {
    const { line, plug, pull, checked, committed, bindings } = lineOf();
    expect(plug('k1')).toEqual([{ type: 'check', attempt: 1, keyId: 'k1', person: 0, isNew: true }]);
    expect(checked()).toEqual([]);
    expect(pull('k1')).toMatchObject([{ type: 'commit', keyId: 'k1', person: 0 }]);
    committed();
    expect([line.person, bindings()]).toEqual([1, ['alice k1']]);
  });

  test('that is issued is bound by Enter only, and not if it is unplugged before', () => {
    const { line, plug, pull, checked, committed, take, bindings } = lineOf(three, [], 'confirmed');
    plug('k1');
    checked();
    expect(pull('k1')).toMatchObject([{ type: 'fail', keyId: 'k1', person: 0 }]);
    plug('k1');
    checked();
    take({ type: 'enter' });
    committed();
    expect([line.person, bindings()]).toEqual([1, ['alice k1']]);
  });

  test('that is issued without a terminal is bound at once, and tried again only after it was unplugged', () => {
    const { line, plug, pull, checked, committed, bindings } = lineOf(three, [], 'passed');
    plug('k1');
    expect(checked()).toMatchObject([{ type: 'commit', keyId: 'k1', person: 0 }]);
    expect(committed(false)).toEqual([]);
    pull('k1');
    plug('k1');
    checked();
    committed();
    expect([line.person, bindings()]).toEqual([1, ['alice k1', 'alice k1']]);
  });

  test('is bound by Enter, once, and ignored until it is unplugged', () => {
    const { plug, pull, checked, committed, take, bindings } = lineOf();
    plug('k1');
    checked();
    take({ type: 'enter' });
    committed();
    plug('k2');
    checked();
    pull('k1');
    expect(bindings()).toEqual(['alice k1']);
    pull('k2');
    expect(bindings()).toEqual(['alice k1', 'bob k2']);
  });

  test('is not bound after Esc, and the person stays the same', () => {
    const { line, plug, pull, checked, take, bindings } = lineOf();
    plug('k1');
    checked();
    take({ type: 'undo' });
    checked();
    take({ type: 'enter' });
    pull('k1');
    expect([line.person, bindings()]).toEqual([0, []]);
    expect(plug('k1')).toMatchObject([{ type: 'check', person: 0 }]);
  });

  test('is not bound to the person after one who is skipped', () => {
    const { line, plug, pull, checked, take, bindings } = lineOf();
    plug('k1');
    checked();
    take({ type: 'skip' });
    checked();
    pull('k1');
    expect([line.person, bindings()]).toEqual([1, []]);
  });

  test('is not bound if the hardware service was out of reach', () => {
    const { plug, pull, checked, take, bindings, said } = lineOf();
    plug('k1');
    checked();
    take({ type: 'lost' });
    checked();
    pull('k1');
    expect([bindings(), said()]).toEqual([[], ['lost']]);
  });

  test('is not bound if the service was out of reach while the key before it was bound', () => {
    const { plug, pull, checked, committed, take, bindings } = lineOf();
    plug('k1');
    checked();
    pull('k1');
    plug('k2');
    take({ type: 'lost' });
    committed();
    checked();
    pull('k2');
    expect(bindings()).toEqual(['alice k1']);
  });
});

test('a key that is unplugged before its check has ended is not bound', () => {
  const { plug, pull, checked, bindings } = lineOf();
  plug('k1');
  expect(pull('k1')).toMatchObject([{ type: 'fail', keyId: 'k1', person: 0 }]);
  checked();
  expect(bindings()).toEqual([]);
});

test('a key that has failed is not bound, and the person stays the same', () => {
  const { line, plug, pull, checked, take, bindings } = lineOf();
  plug('k1');
  checked(false);
  take({ type: 'enter' });
  pull('k1');
  expect([line.person, bindings()]).toEqual([0, []]);
});

test('a binding that the registry refuses leaves the person open', () => {
  const { line, plug, pull, checked, committed } = lineOf();
  plug('k1');
  checked();
  pull('k1');
  committed(false);
  expect([line.person, line.phase.type]).toEqual([0, 'empty']);
});

/**
 * Plays events: `+a` plugs key a in, or its serial number has become readable; `-a` unplugs it; `ok` and `no` end a check, `done` a
 * commit; `enter`.
 */
function played(script: string) {
  const run = lineOf();
  const one: Record<string, () => unknown> = {
    ok: () => run.checked(),
    no: () => run.checked(false),
    done: () => run.committed(),
    enter: () => run.take({ type: 'enter' }),
  };
  for (const word of script.split(' ')) {
    if (word.startsWith('+')) run.plug(word.slice(1));
    else if (word.startsWith('-')) run.pull(word.slice(1));
    else one[word]!();
  }
  return run;
}

describe('two keys stop the line', () => {
  test.each([
    ['the first one is removed', '+a +b enter -a ok -b done', ['alice b']],
    ['the second one is removed', '+a +b enter -b ok -a done', ['alice a']],
    ['the first one had passed, and is removed', '+a ok +b enter -a ok -b done', ['alice b']],
    ['the first one had passed, and stays', '+a ok +b enter -b ok enter done', ['alice a']],
    ['one is read late, while both are in the reader', '+a +b +a -b ok -a done', ['alice a']],
    ['one is read after the other was removed', '+a +b -b no +a ok -a done', ['alice a']],
    ['one was removed before the other was read', '+a -a +b ok -b done', ['alice b']],
    ['one is not readable, and is removed', '+a no +b -a ok -b done', ['alice b']],
    ['the one that stays is not readable', '+a +b -b no -a +c ok -c done', ['alice c']],
    ['both are removed', '+a +b -a -b +c ok -c done', ['alice c']],
    ['both are removed, the last one first', '+a ok +b -b -a +c ok -c done', ['alice c']],
    ['a third one comes and goes', '+a +b +c -b -c ok -a done', ['alice a']],
    ['the second one comes during the commit', '+a ok enter +b done ok -b done', ['alice a', 'bob b']],
    ['they are exchanged during the commit', '+a ok enter +b -a done ok -b done', ['alice a', 'bob b']],
  ])('and it continues: %s', (_, script, bound) => {
    const { line, bindings } = played(script);
    expect([bindings(), line.phase.type, line.person]).toEqual([bound, 'empty', 1]);
  });

  test('and Enter confirms nothing', () => {
    const { line, bindings, said } = played('+a ok +b enter -a');
    expect([bindings(), line.phase.type, said()]).toEqual([[], 'checking', ['two keys', 'nothing to confirm']]);
  });
});

test('a person with two keys is named until both are bound', () => {
  const { line, plug, pull, checked, committed, bindings } = lineOf(three, [1, 0, 0]);
  for (const keyId of ['k1', 'k2']) {
    expect(line.person).toBe(1);
    plug(keyId);
    checked();
    pull(keyId);
    committed();
  }
  expect([line.person, bindings()]).toEqual([2, ['bob k1', 'bob k2']]);
});

describe('redo', () => {
  test('returns to a person who was skipped', () => {
    const { line, take } = lineOf();
    take({ type: 'skip' });
    take({ type: 'redo' });
    expect([line.person, line.rows.skipped]).toEqual([0, 0]);
  });

  test('gives the last person another key; the binding stays', () => {
    const { line, plug, pull, checked, committed, take, bindings, said } = lineOf();
    for (const keyId of ['k1', 'k2']) {
      plug(keyId);
      checked();
      pull(keyId);
      committed();
      if (keyId === 'k1') take({ type: 'redo' });
    }
    expect([line.person, bindings(), said()]).toEqual([1, ['alice k1', 'alice k2'], ['redo of a binding']]);
  });

  test('is possible once, and not after the next commit has begun', () => {
    const { plug, pull, checked, committed, take, said } = lineOf();
    take({ type: 'skip' });
    plug('k1');
    checked();
    pull('k1');
    take({ type: 'redo' });
    committed(false);
    take({ type: 'redo' });
    expect(said()).toEqual(['skipped', 'nothing to redo']);
  });
});

describe('a badge', () => {
  test.each(['carol', 'CAROL'])('names the person instead of the roster (%s)', text => {
    const { line, take, plug, pull, checked, committed, bindings } = lineOf();
    take({ type: 'badge', text });
    plug('k1');
    checked();
    pull('k1');
    committed();
    expect([bindings(), line.person]).toEqual([['carol k1'], 0]);
  });

  test('with a name does the same', () => {
    const { line, take } = lineOf();
    take({ type: 'skip' });
    take({ type: 'badge', text: 'alice meier' });
    expect([line.person, line.rows.skipped]).toEqual([0, 0]);
  });

  test('has a key in the reader checked again, for that person', () => {
    const { take, plug, pull, checked, bindings } = lineOf();
    plug('k1');
    checked();
    expect(take({ type: 'badge', text: 'carol' })).toMatchObject([{ what: 'badge' }, { type: 'check', person: 2 }]);
    checked();
    pull('k1');
    expect(bindings()).toEqual(['carol k1']);
  });

  test.each([
    ['mallory', 'badge unknown'],
    ['alice', 'badge of a person who is done'],
    ['Kim', 'badge of several'],
  ])('of %s binds nothing until a valid badge or Esc', (text, what) => {
    const people = [...three, person('k1', { name: 'Kim' }), person('k2', { name: 'Kim' })];
    const { line, take, plug, pull, checked, bindings, said } = lineOf(people, [1]);
    plug('k1');
    checked();
    take({ type: 'badge', text });
    take({ type: 'enter' });
    pull('k1');
    plug('k2');
    checked();
    pull('k2');
    expect([bindings(), said(), line.person]).toEqual([[], [what, 'nothing to confirm'], null]);
    take({ type: 'undo' });
    expect(line.person).toBe(1);
  });

  test('that is scanned during a commit names the person after it', () => {
    const { line, take, plug, pull, checked, committed, bindings } = lineOf();
    plug('k1');
    checked();
    pull('k1');
    take({ type: 'badge', text: 'carol' });
    committed();
    expect([line.person, bindings()]).toEqual([2, ['alice k1']]);
  });
});

test('a line whose rows are all done or skipped is over', () => {
  expect(lineOf(three, [1, 2, 1]).line.isOver).toBe(true);
  const { line, take } = lineOf(three, [1, 2]);
  expect(line.isOver).toBe(false);
  take({ type: 'skip' });
  expect(line.isOver).toBe(true);
});

test('a key that was plugged in unseen is not bound before a badge or its next plugging in', () => {
  const { line, take, plug, pull, checked, bindings } = lineOf();
  take({ type: 'present', keyId: 'k1' });
  take({ type: 'enter' });
  pull('k1');
  expect([bindings(), line.phase.type]).toEqual([[], 'empty']);
  take({ type: 'present', keyId: 'k2' });
  expect(take({ type: 'badge', text: 'bob' })).toMatchObject([{ what: 'badge' }, { type: 'check', keyId: 'k2' }]);
  checked();
  pull('k2');
  plug('k1');
  expect(bindings()).toEqual(['bob k2']);
});

test('a check after a badge, or after the other of two keys was removed, is of a key that may be gone', () => {
  const { take, plug, pull, checked, committed } = lineOf();
  plug('k1');
  checked();
  expect(take({ type: 'badge', text: 'bob' })).toMatchObject([{ what: 'badge' }, { type: 'check', isNew: false }]);
  plug('k2');
  expect(pull('k2')).toMatchObject([{ type: 'check', keyId: 'k1', isNew: false }]);
  checked();
  take({ type: 'enter' });
  plug('k3');
  expect(committed()).toMatchObject([{ type: 'check', keyId: 'k3', isNew: true }]);
});

describe('without a roster', () => {
  const openLine = () => lineOf(null);

  test('each badge calls a person, who gets one key', () => {
    const { line, take, plug, pull, checked, committed, bindings } = openLine();
    expect([line.person, line.isOver]).toEqual([null, false]);
    for (const [keyId, text] of [
      ['k1', 'zoe'],
      ['k2', ' zoe '],
      ['k3', 'yan'],
    ] as const) {
      take({ type: 'badge', text });
      plug(keyId);
      checked();
      pull(keyId);
      committed();
      expect([line.person, line.isOver]).toEqual([null, false]);
    }
    expect(bindings()).toEqual(['zoe k1', 'zoe k2', 'yan k3']);
  });

  test('a key waits for the badge', () => {
    const { line, take, plug, pull, checked, bindings } = openLine();
    plug('k1');
    expect(line.phase.type).toBe('aside');
    take({ type: 'badge', text: 'zoe' });
    checked();
    pull('k1');
    expect(bindings()).toEqual(['zoe k1']);
  });

  test.each(['', ' ', 'x'.repeat(129), 'a\u0007b', 'a\u202eb'])('%j is not a person', text => {
    const { line, take, plug, said } = openLine();
    take({ type: 'badge', text });
    plug('k1');
    expect([line.person, line.phase.type, said()]).toEqual([null, 'aside', ['badge unknown']]);
  });
});

describe('a scan that was cut', () => {
  test('binds nothing, by Enter or by unplugging, until a badge or Esc', () => {
    const { line, plug, pull, checked, take, bindings, said } = lineOf();
    plug('k1');
    checked();
    take({ type: 'cut' });
    take({ type: 'enter' });
    pull('k1');
    plug('k2');
    expect([line.isHeld, bindings(), said()]).toEqual([true, [], ['badge incomplete', 'nothing to confirm']]);
    take({ type: 'badge', text: 'bob' });
    checked();
    pull('k2');
    expect(bindings()).toEqual(['bob k2']);
  });

  test('during a commit holds the line after it', () => {
    const { line, plug, pull, checked, committed, take, bindings } = lineOf();
    plug('k1');
    checked();
    take({ type: 'enter' });
    take({ type: 'badge', text: 'carol' });
    take({ type: 'cut' });
    take({ type: 'enter' });
    committed();
    pull('k1');
    plug('k2');
    expect([line.isHeld, line.phase.type, bindings()]).toEqual([true, 'aside', ['alice k1']]);
    take({ type: 'undo' });
    expect(line.isHeld).toBe(false);
  });

  test('is suspected if what came before the badge, or before Enter, makes it that of another person', () => {
    const people = [person('zoe'), person('am'), person('sam'), person('r')];
    const { line, plug, checked, take, bindings } = lineOf(people);
    take({ type: 'badge', text: 'am', before: 'xs' });
    expect(line.isHeld).toBe(true);
    take({ type: 'badge', text: 'am', before: 'x' });
    expect([line.isHeld, line.person]).toEqual([false, 1]);
    plug('k1');
    checked();
    take({ type: 'enter', before: 'r' });
    expect([line.isHeld, bindings()]).toEqual([true, []]);
  });
});

test('a key that is unplugged while characters arrive is not bound: they may name another person', () => {
  const { line, plug, checked, take, bindings, said } = lineOf();
  plug('k1');
  checked();
  take({ type: 'pull', keyId: 'k1', isTyping: true });
  expect([line.phase.type, bindings(), said()]).toEqual(['empty', [], ['unplugged during a scan']]);
});

test('Enter right after another key confirms nothing', () => {
  const { line, plug, checked, take, bindings } = lineOf();
  plug('k1');
  checked();
  take({ type: 'early' });
  expect([line.phase.type, bindings()]).toEqual(['ready', []]);
});
