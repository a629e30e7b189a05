/** Keys that a person types, and scans: only the time between characters distinguishes them. */
import { describe, expect, test } from 'vitest';
import { confirmMs, Keyboard, scanGapInPageMs, scanGapMs } from '../../../src/enrollment/line/keyboard.ts';

type Timed = readonly [text: string, gap: number];

/** The inputs that characters give, each with the milliseconds since the one before. */
function typed(...characters: readonly Timed[]) {
  const keyboard = new Keyboard();
  let at = 1000;
  const all = characters.flatMap(([text, gap]) => {
    at += gap;
    return keyboard.take(text, at);
  });
  return [...all, ...keyboard.flush()];
}

const scanned = (text: string, gap = 5): Timed[] => [...text].map(character => [character, gap] as const);
const cut = { type: 'cut' };

describe('a key', () => {
  test('is a command if no character follows', () => {
    const characters = ['s', 'R', '\x1b', '\r'].map(text => [text, confirmMs] as const);
    expect(typed(...characters)).toEqual([{ type: 'skip' }, { type: 'redo' }, { type: 'undo' }, { type: 'enter' }]);
    expect(typed(...scanned('sr', confirmMs))).toEqual([{ type: 'skip' }, { type: 'redo' }]);
  });

  test.each([scanGapMs, 200, confirmMs - 1])('is not a command if another character follows within %i ms', gap => {
    for (const badge of ['s1', 'sr', 'rs-1', 'S'])
      expect(new Set(typed(...scanned(`${badge}\r`, gap)).map(({ type }) => type))).toEqual(new Set(['cut']));
  });

  test('without a meaning may be the first character of a scan', () => {
    expect(typed(['x', 100])).toEqual([cut]);
    expect(typed(...scanned('ssss'))).toEqual([cut]);
  });

  test('that sends several characters is none of a scan', () => {
    expect(typed(['\x1b[A', 100], ['\x1b[3~', 100], ['\r', confirmMs])).toEqual([{ type: 'enter' }]);
    expect(typed(['\x1b', 100], ['[', 5], ['A', 5])).toEqual([]);
  });

  test('Esc acts before a key could be unplugged', () => {
    const keyboard = new Keyboard();
    keyboard.take('\x1b', 0);
    expect(keyboard.waitMs).toBe(35);
    expect(keyboard.flush()).toEqual([{ type: 'undo' }]);
  });

  test('Ctrl-C and Ctrl-Z work at once, also within a scan', () => {
    expect(typed(['sa\x03', 0], ['\x1a', 100])).toEqual([{ type: 'interrupt' }, cut, { type: 'suspend' }]);
  });
});

describe('Enter', () => {
  test.each(['s', 'x', '\x1b[A'])('right after %j confirms nothing', character => {
    for (const gap of [0, 20, 60, 149, 150, 299])
      expect(typed([character, 1000], ['\r', gap]).map(({ type }) => type)).not.toContain('enter');
  });

  test('right after another one, or as CR and LF, is one', () => {
    expect(typed(['\r\n', confirmMs], ['\r', 299])).toEqual([{ type: 'enter' }]);
    expect(typed(...scanned('sam\r\n'), ['\r', 100])).toEqual([{ type: 'badge', text: 'sam' }]);
  });

  test('right after a key without a meaning is named', () => {
    expect(typed(['\x1b[A', 100], ['\r', 299])).toEqual([{ type: 'early' }]);
  });

  test('after Esc, Ctrl-Z or another field counts at once: no scan has these', () => {
    expect(typed(['\x1b', 100], ['\r', 40])).toEqual([{ type: 'undo' }, { type: 'enter' }]);
    expect(typed(['\x1a', 100], ['\r', 10])).toEqual([{ type: 'suspend' }, { type: 'enter' }]);
    const keyboard = new Keyboard();
    keyboard.take('p-1', 0);
    keyboard.reset();
    expect(keyboard.take('\r', 10)).toEqual([{ type: 'enter' }]);
  });

  test('after keys shows which: together they may be a badge that was cut', () => {
    expect(typed(['s', 1000], ['\r', 1000])).toEqual([{ type: 'skip' }, { type: 'enter', before: 's' }]);
    expect(typed(['s', 1000], ['\x1b', 1000], ['\r', 1000])).toEqual([
      { type: 'skip' },
      { type: 'undo' },
      { type: 'enter' },
    ]);
  });
});

describe('a scan', () => {
  test('is a badge, also if it begins with a command', () => {
    expect(typed(...scanned('sam-001\r'))).toEqual([{ type: 'badge', text: 'sam-001' }]);
    expect(typed(['renée\r\n', 0])).toEqual([{ type: 'badge', text: 'renée' }]);
  });

  test.each([5, 10, 20, 30, 34, 35, 36, 40, 50, 60, scanGapMs - 1])('is a badge with %i ms between', gap => {
    const both = [...scanned('p-12\r', gap), ...scanned('sam\r\n', gap)];
    expect(typed(...both)).toEqual([
      { type: 'badge', text: 'p-12' },
      { type: 'badge', text: 'sam' },
    ]);
  });

  test('of a page is distinguished from a person who types 80 ms apart', () => {
    const page = (gap: number) => {
      const keyboard = new Keyboard(scanGapInPageMs);
      return [...'p-12\r'].flatMap((character, at) => keyboard.take(character, (at + 1) * gap)).map(({ type }) => type);
    };
    expect(page(60)).toEqual(['badge']);
    expect(page(80)).toEqual(['cut', 'cut', 'cut', 'cut']);
  });

  test.each([scanGapMs, 299, 300, 2000, 60_000].flatMap(pause => [1, 2, 3, 4].map(at => [at, pause] as const)))(
    'that is cut after %i characters for %i ms is neither a badge nor Enter',
    (at, pause) => {
      const characters = scanned('p-12\r', 30).map(([text, gap], index) => [text, index === at ? pause : gap] as const);
      const types = typed(...characters).map(({ type }) => type);
      expect(new Set(types)).toEqual(new Set(['cut']));
      // The next one is read, and Enter of a person counts again.
      expect(typed(...characters, ...scanned('p-12\r'), ['\r', 1000]).slice(types.length)).toEqual([
        { type: 'badge', text: 'p-12' },
        { type: 'enter' },
      ]);
    },
  );

  test('without Enter is incomplete, and so is the next one: it may be the rest', () => {
    expect(typed(...scanned('p-1'), ['2', 500], ['\r', 5])).toEqual([cut, cut]);
    const again = [...scanned('p-1'), ['p', 3000] as const, ...scanned('-12\r')];
    expect(typed(...again, ...scanned('p-12\r'))).toEqual([cut, cut, { type: 'badge', text: 'p-12' }]);
  });

  test('that is incomplete is not confirmed by Enter; Esc answers it', () => {
    expect(typed(...scanned('p-1'), ['\r', 5000])).toEqual([cut, cut]);
    expect(typed(...scanned('p-1'), ['\x1b', 5000], ['\r', 5000])).toEqual([cut, { type: 'undo' }, { type: 'enter' }]);
  });

  test('after a key or Esc shows what came before it: together they may be one that was cut', () => {
    expect(typed(['s', 1000], ['a', confirmMs], ...scanned('m\r'))).toEqual([
      { type: 'skip' },
      { type: 'badge', text: 'am', before: 's' },
    ]);
    expect(typed(...scanned('p-1'), ['\x1b', 500], ['2', 500], ['\r', 5])).toEqual([
      cut,
      { type: 'undo' },
      { type: 'badge', text: '2', before: 'p-1' },
    ]);
  });

  test('without end keeps 256 characters, without controls', () => {
    expect(typed([`${'a\x07'.repeat(500)}\r`, 0])).toEqual([{ type: 'badge', text: 'a'.repeat(128) }]);
  });
});
