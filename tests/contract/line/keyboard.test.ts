/** Keys that a person types, and scans: only the time between characters distinguishes them. */
import { expect, test } from 'vitest';
import { Keyboard, scanGapMs } from '../../../src/contract/line/keyboard.ts';

/** What comes of characters, each with the milliseconds since the one before. */
function typed(...characters: readonly (readonly [text: string, gap: number])[]) {
  const keyboard = new Keyboard();
  let at = 1000;
  const all = characters.flatMap(([text, gap]) => {
    at += gap;
    return keyboard.take(text, at);
  });
  return [...all, ...keyboard.flush()];
}

const scanned = (text: string, gap = 5) => [...text].map(character => [character, gap] as const);

test('single characters are commands', () => {
  const characters = ['s', 'R', '\x1b', '\r', 'x'].map(text => [text, 100] as const);
  expect(typed(...characters)).toEqual([{ type: 'skip' }, { type: 'redo' }, { type: 'undo' }, { type: 'enter' }]);
});

test('fast characters with Enter are a badge, also if they begin with a command', () => {
  expect(typed(...scanned('sam-001\r'))).toEqual([{ type: 'badge', text: 'sam-001' }]);
  expect(typed(['renée\r\n', 0])).toEqual([{ type: 'badge', text: 'renée' }]);
  expect(typed(...scanned('sam\r\n', scanGapMs - 1))).toEqual([{ type: 'badge', text: 'sam' }]);
});

test('characters that are as far apart as the limit are typed', () => {
  expect(typed(...scanned('sr\r', scanGapMs))).toEqual([{ type: 'skip' }, { type: 'redo' }, { type: 'enter' }]);
});

test('a scan without Enter, arrows and a held key are ignored', () => {
  expect(typed(...scanned('sam'), ['\r', 100])).toEqual([{ type: 'enter' }]);
  expect(typed(['\x1b[A', 100], ['\x1b[3~', 100], ['ssss', 100])).toEqual([]);
});

test('Ctrl-C and Ctrl-Z work at once, also within a scan', () => {
  expect(typed(['sa\x03', 0], ['\x1a', 100])).toEqual([{ type: 'interrupt' }, { type: 'suspend' }]);
});

test('a scan without end keeps 256 characters, without controls', () => {
  expect(typed([`${'a\x07'.repeat(500)}\r`, 0])).toEqual([{ type: 'badge', text: 'a'.repeat(128) }]);
});
