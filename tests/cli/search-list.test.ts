/** A list that is searched: what each key and each result changes, and how often the server is asked. */
import { describe, expect, test } from 'vitest';
import { aligned } from '../../src/cli/framework/pickers/aligned.ts';
import { pauseBefore } from '../../src/cli/framework/pickers/server-search.ts';
import { emptyList, isFinal, type ListEvent, type ListState, listAfter } from '../../src/cli/terminal/search-list.ts';

const choices = ['a', 'b', 'c'].map(value => ({ value, name: value }));
const found = (values = choices, more = 0): ListEvent<string> => ({ type: 'found', found: { choices: values, more } });
const typed = (text: string): ListEvent<string> => ({ type: 'typed', text });
const down: ListEvent<string> = { type: 'move', by: 1 };
const up: ListEvent<string> = { type: 'move', by: -1 };
const mark: ListEvent<string> = { type: 'mark' };
const failed: ListEvent<string> = { type: 'failed', problem: 'gone' };

const stateAfter = (...events: readonly ListEvent<string>[]): ListState<string> =>
  events.reduce<ListState<string>>((state, event) => listAfter(state, event), emptyList());

describe('a searched list', () => {
  test.each<[string, readonly ListEvent<string>[], readonly string[]]>([
    ['the choice under the cursor', [found(), mark], ['a']],
    ['in the order of marking', [found(), down, down, mark, up, mark], ['c', 'b']],
    ['nothing twice: a second mark removes it', [found(), mark, mark], []],
    ['nothing while a search runs', [found(), typed('x'), mark], []],
    ['nothing in the list of an earlier text after a failure', [found(), typed('x'), failed, mark], []],
    ['nothing in an empty list', [found([]), mark], []],
    ['nothing past the end', [found(), down, down, down, down, mark], ['c']],
    ['nothing before the start', [found(), up, mark], ['a']],
    ['and keeps marks for other texts', [found(), mark, typed('b'), found([choices[1]!]), mark], ['a', 'b']],
  ])('marks %s', (_, events, marked) => {
    expect([...stateAfter(...events).marked.keys()]).toEqual(marked);
  });

  test('begins with the marked choices if there is no text', () => {
    const values = (state: ListState<string>) => state.found.choices.map(({ value }) => value);
    const marked = [found(), down, down, mark, typed('x'), found([]), typed('')];
    expect(values(stateAfter(...marked, found(choices.slice(0, 2))))).toEqual(['c', 'a', 'b']);
    expect(values(stateAfter(...marked, found()))).toEqual(['c', 'a', 'b']);
    expect(values(stateAfter(found(), mark, typed('b'), found([choices[1]!])))).toEqual(['b']);
  });

  test.each<[string, readonly ListEvent<string>[], { readonly one: boolean; readonly many: boolean }]>([
    ['before the first result', [], { one: false, many: false }],
    ['with a result', [found()], { one: true, many: false }],
    ['with a mark', [found(), mark], { one: true, many: true }],
    ['while a search runs', [found(), mark, typed('x')], { one: false, many: false }],
    ['after a failure', [found(), mark, typed('x'), failed], { one: false, many: true }],
    ['if nothing matches', [found(), mark, typed('x'), found([])], { one: false, many: true }],
  ])('%s is ended by Enter or not', (_, events, expected) => {
    const state = stateAfter(...events);
    expect({ one: isFinal(state, false), many: isFinal(state, true) }).toEqual(expected);
  });

  test('does not search again for the same text', () => {
    const state = stateAfter(typed('x'), found());
    expect(listAfter(state, typed('x'))).toBe(state);
  });
});

test('rows are aligned by width, and text of the server cannot control the terminal', () => {
  const rows = [
    ['DEV-1', '\u001b[2J', 'x'],
    ['DEV-10', '漢字', 'y'],
  ];
  expect(aligned(rows)).toEqual(['DEV-1   \\x1b[2J  x', 'DEV-10  漢字     y']);
});

describe('a search on the server', () => {
  /** The times of searches by a person who never stops typing, for so many minutes. */
  function searches(minutes: number): readonly number[] {
    const times: number[] = [];
    for (let now = 0; now < minutes * 60_000; ) {
      now += pauseBefore(times, now);
      times.push(now);
    }
    return times;
  }

  test('is fast for a person who searches now and then', () => {
    expect(pauseBefore([], 0)).toBe(250);
    expect(pauseBefore([0, 1, 2], 30_000)).toBe(250);
  });

  test('with two requests each stays below the 100 queries a minute of the interface, in every minute', () => {
    const times = searches(5);
    const inMinuteAfter = (start: number) => times.filter(time => time >= start && time < start + 60_000).length;
    expect(Math.max(...times.map(inMinuteAfter))).toBeLessThanOrEqual(40);
    expect(times.length).toBeGreaterThan(150);
  });
});
