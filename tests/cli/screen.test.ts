/** Drawn output: tables within their width, text that cannot control the terminal, times and amounts for people. */
import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { hintLines } from '../../src/cli/terminal/card.ts';
import type { Column } from '../../src/cli/terminal/column.ts';
import { toCsv } from '../../src/cli/terminal/csv.ts';
import { choosePaint, plain } from '../../src/cli/terminal/style.ts';
import { table } from '../../src/cli/terminal/table.ts';
import { safe, safeJson, safeProse } from '../../src/cli/terminal/text.ts';
import { bytes, duration, localTime, relative, spent, timeAndDistance } from '../../src/cli/terminal/when.ts';
import { shorten, width } from '../../src/cli/terminal/width.ts';
import { textFault } from '../../src/contract/text.ts';

test('a hint is broken between words, and its command is a line of its own', () => {
  const command = 'devmgr login admin --password-file /home/ada/password';
  expect(hintLines(`log in with the first password: ${command}`, 30)).toEqual([
    'log in with the first',
    'password:',
    command,
  ]);
  expect(hintLines(`log in: ${command}`, 80)).toEqual([`log in: ${command}`]);
  expect(hintLines('name another file with --out, or add --force', 24)).toEqual([
    'name another file with',
    '--out, or add --force',
  ]);
  expect(hintLines(`use ${command}, or ask`, 30)).toEqual([`use ${command}, or ask`]);
});

describe('a table', () => {
  interface Row {
    readonly id: string;
    readonly serial: string;
    readonly name: string;
  }
  const columns: Column<Row>[] = [
    { title: 'ID', value: row => row.id },
    { title: 'SERIAL', value: row => row.serial, shorten: 'middle' },
    { title: 'NAME', value: row => row.name, shorten: 'end', drop: 1 },
    { title: 'NOTE', value: () => 'something long that is not needed', drop: 2 },
  ];
  const rows: Row[] = [
    { id: 'DEV-1', serial: '8986000000000000000000000000000000001232', name: '北京飞天诚信科技有限公司' },
    { id: 'DEV-1000000', serial: 'UK-1', name: 'Feitian 👩‍🔬 é' },
  ];

  test.each([40, 60, 80, 160, 200])('fits into %i columns', async room => {
    for (const line of (await table(columns, rows, room, plain)).split('\n'))
      expect(stringWidth(line)).toBeLessThanOrEqual(room);
  });

  test('shows every text in full without a terminal', async () => {
    const text = await table(columns, rows, Number.POSITIVE_INFINITY, plain);
    for (const row of rows) for (const value of Object.values(row)) expect(text).toContain(value);
  });

  test('aligns columns whatever the width of their letters', async () => {
    const [, first, second] = (await table(columns.slice(0, 3), rows, 200, plain)).split('\n');
    expect(stringWidth(first!.slice(0, first!.indexOf('北')))).toBe(
      stringWidth(second!.slice(0, second!.indexOf('Feitian'))),
    );
  });

  test('leaves out the least important columns first', async () => {
    expect(await table(columns, rows, 60, plain)).not.toContain('NOTE');
    expect((await table(columns, rows, 30, plain)).split('\n')[0]).not.toContain('NAME');
  });

  test('draws the same columns for any number of rows, and styles without changing widths', async () => {
    const many = Array.from({ length: 55 }, (_, n) => ({ id: `DEV-${n}`, serial: 'x'.repeat(n), name: '-' }));
    const styled = columns.slice(0, 2).map(column => ({ ...column, style: () => 'red' as const }));
    const lines = (await table(styled, many, 200, choosePaint({}, true, false))).trimEnd().split('\n');
    const bare = lines.map(line => line.replaceAll(/\u001b\[\d+m/g, ''));
    expect(bare).toHaveLength(56);
    expect(bare.slice(1)).toEqual(many.map(({ id, serial }) => `${id.padEnd(6)}  ${serial || ''}`.trimEnd()));
    expect(await table(styled, many, 200, plain, false)).toBe(`${bare.slice(1).join('\n')}\n`);
    expect(await table(styled, [], 200, plain, false)).toBe('');
  });

  test('is the same on a wide terminal as without one', async () => {
    const sizes: Column<Row>[] = [{ title: 'SIZE', value: row => row.id.length, align: 'right' }, ...columns];
    const paint = choosePaint({}, true, false);
    expect(await table(sizes, rows, 1000, paint)).toBe(await table(sizes, rows, Number.POSITIVE_INFINITY, paint));
  });

  test('keeps both ends of a serial that it shortens', async () => {
    expect(await table(columns, rows, 60, plain)).toMatch(/8986\d*…\d*1232/);
  });
});

describe('width', () => {
  test('agrees with string-width, which takes 30 ms to load, for letters, marks and signs of many scripts', () => {
    const samples = [
      'abc',
      'é',
      'e\u0301',
      '漢字',
      '한국어',
      'ｆｕｌｌ',
      'ﾊﾝｶｸ',
      '👍',
      '🇩🇪',
      '👩‍🔬',
      'العربية',
      'हिन्दी'.slice(0, 1),
      'Ünïcödé',
      '①',
    ];
    for (const sample of samples) expect([sample, width(sample)]).toEqual([sample, stringWidth(sample)]);
  });

  test('of a shortened text is never more than the room', () => {
    const letters = fc.constantFrom('a', 'Z', '9', '-', 'é', '漢', '👍', 'ß', '…', 'ｗ');
    fc.assert(
      fc.property(
        fc.array(letters, { maxLength: 40 }),
        fc.integer({ min: 1, max: 30 }),
        fc.constantFrom('end' as const, 'middle' as const),
        (parts, cells, where) => {
          const text = parts.join('');
          const short = shorten(text, cells, where);
          expect(width(short)).toBeLessThanOrEqual(cells);
          if (width(text) <= cells) expect(short).toBe(text);
        },
      ),
    );
  });
});

describe('text from elsewhere', () => {
  const controlling = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;

  test('cannot control the terminal, whatever it contains', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), text => {
        expect(safe(text)).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
        expect(safe(text)).not.toMatch(controlling);
        expect(safeProse(text)).not.toMatch(controlling);
        expect(safeJson(text)).not.toMatch(controlling);
        expect(JSON.parse(safeJson(text))).toBe(text);
      }),
      { numRuns: 5_000 },
    );
  });

  test('shows controls, invisible and reordering characters as escapes, and no others', () => {
    const ranges: readonly (readonly [first: number, last: number])[] = [
      [0x00, 0x1f],
      [0x7f, 0x9f],
      [0xad, 0xad],
      [0x61c, 0x61c],
      [0x115f, 0x1160],
      [0x200b, 0x200b],
      [0x200e, 0x200f],
      [0x2028, 0x202e],
      [0x2060, 0x206f],
      [0x3164, 0x3164],
      [0xd800, 0xdfff],
      [0xfeff, 0xfeff],
      [0xffa0, 0xffa0],
      [0xfff9, 0xfffb],
      [0xe0000, 0xe007f],
    ];
    const wanted = ranges.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, i) => first + i));
    const escapes = (make: (text: string) => string) =>
      Array.from({ length: 0xe1000 }, (_, point) => point).filter(point => {
        const text = `a${String.fromCodePoint(point)}b`;
        return make(text) !== text;
      });
    expect(escapes(safe)).toEqual(wanted);
    expect(escapes(safeProse)).toEqual(wanted.filter(point => point !== 0x0a));
  });

  test('shows every character as an escape that the daemon refuses in new texts, also in JSON', () => {
    for (let point = 0; point < 0xe1000; point++) {
      const character = String.fromCodePoint(point);
      if (point === 0x0a || textFault(character, 'line') === null) continue;
      expect([point, safe(character).includes(character)]).toEqual([point, false]);
      if (character.isWellFormed()) expect([point, safeJson(character).includes(character)]).toEqual([point, false]);
    }
  });

  test('stays as it is if it is harmless', () => {
    for (const text of ['Müller & Söhne', '漢字', 'a\u200db', 'العربية', '👩‍🔬']) expect(safe(text)).toBe(text);
  });

  test('stays in one cell of CSV', () => {
    expect(
      toCsv(
        ['a', 'b'],
        [
          { a: 'x,"y"', b: null },
          { a: ' z', b: 1 },
        ],
        true,
      ),
    ).toBe('a,b\n"x,""y""",\n" z",1\n');
  });
});

describe('for people', () => {
  const now = Date.parse('2026-11-20T12:00:00Z');
  test.each([
    ['2026-11-20T11:59:58Z', 'just now'],
    ['2026-11-20T11:59:18Z', '42 seconds ago'],
    ['2026-11-20T11:58:59Z', '1 minute ago'],
    ['2026-11-17T11:00:00Z', '3 days ago'],
    ['2025-01-01T00:00:00Z', '1 year ago'],
    ['2026-12-20T12:00:00Z', 'in 4 weeks'],
    ['2027-11-20T12:00:00Z', 'in 1 year'],
    ['2027-11-20T11:59:50Z', 'in 1 year'],
    ['2026-11-21T11:59:58Z', 'in 1 day'],
    ['not a time', 'not a time'],
  ])('%s is %s', (iso, words) => {
    expect(relative(iso, now)).toBe(words);
  });

  test('shows a time as local time', () => {
    const local = new Date(2026, 10, 21, 16, 29, 5);
    expect(localTime(local.toISOString())).toBe('2026-11-21 16:29');
    expect(localTime(local.toISOString(), { seconds: true })).toBe('2026-11-21 16:29:05');
    expect(localTime('not a time\u001b')).toBe('not a time\\x1b');
    expect(timeAndDistance(new Date(Date.now() - 90_000_000).toISOString())).toMatch(
      /^\d{4}-\d\d-\d\d \d\d:\d\d \(1 day ago\)$/,
    );
  });

  test('shortens lengths of time and sizes', () => {
    expect([duration(8), duration(192), duration(7500)]).toEqual(['8s', '3m 12s', '2h 05m']);
    expect([spent(0.4), spent(192)]).toEqual(['', ' in 3m 12s']);
    expect([bytes(0), bytes(1023), bytes(1536), bytes(2 ** 31)]).toEqual(['0 B', '1023 B', '1.5 KiB', '2.0 GiB']);
  });

  test('uses colors only if they are wanted', () => {
    const red = (env: Record<string, string>, isTerminal: boolean, noColor = false) =>
      choosePaint(env, isTerminal, noColor)('red', 'x') !== 'x';
    expect(red({}, true)).toBe(true);
    expect(red({}, false)).toBe(false);
    expect(red({}, true, true)).toBe(false);
    expect(red({ NO_COLOR: '1' }, true)).toBe(false);
    expect(red({ TERM: 'dumb' }, true)).toBe(false);
    expect(red({ CLICOLOR_FORCE: '1' }, false)).toBe(true);
    expect(red({ CLICOLOR_FORCE: '1', NO_COLOR: '1' }, false)).toBe(false);
  });
});
