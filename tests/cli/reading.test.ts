/** The readers of input files, for every way to split a text into chunks. */
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bytesOf } from '../../src/cli/jobs/table-file.ts';
import { toCsv } from '../../src/cli/terminal/csv.ts';
import { cellText, csvCell } from '../../src/contract/csv.ts';
import { readCsv } from '../../src/tables/csv.ts';
import { InvalidInput } from '../../src/tables/fault.ts';
import { deviceFields, meaningsOf } from '../../src/tables/fields.ts';
import { readJsonArray, readJsonLines } from '../../src/tables/json.ts';
import type { RawRows } from '../../src/tables/raw.ts';
import { openTable } from '../../src/tables/table.ts';
import { eachLine, peek } from '../../src/tables/text.ts';
import { temporaryFolder } from '../support/temporary.ts';

async function* pieces(text: string, size: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

const rows = async (groups: RawRows) => (await all(groups)).flat();

const csv = (text: string, size = 1_000) => all(readCsv(pieces(text, size)));

describe('CSV', () => {
  test('knows the line of every record, whatever the cells contain', async () => {
    const text = 'a,b\r\n\r\n"1\r\n2",x\r\n\n3,"y ""z"""\n"",\n4,5';
    for (let size = 1; size <= text.length; size++)
      expect(await csv(text, size)).toEqual([
        { line: 1, cells: ['a', 'b'] },
        { line: 3, cells: ['1\r\n2', 'x'] },
        { line: 6, cells: ['3', 'y "z"'] },
        { line: 7, cells: ['', ''] },
        { line: 8, cells: ['4', '5'] },
      ]);
  });

  test('continues after an unreadable line', async () => {
    const text = 'a,b\n"1"x,2\n3,4\n"5,6\n7,8\n';
    for (const size of [1, 3, 1_000])
      expect(await csv(text, size)).toEqual([
        { line: 1, cells: ['a', 'b'] },
        { line: 2, problem: 'text follows a closing quote' },
        { line: 3, cells: ['3', '4'] },
        { line: 4, problem: 'a quote is opened and never closed' },
        { line: 5, cells: ['7', '8'] },
      ]);
  });

  test('detects the separator from the header', async () => {
    expect(await csv('a;b\n1,5;2\n')).toMatchObject([{ cells: ['a', 'b'] }, { cells: ['1,5', '2'] }]);
    expect(await csv('a\tb\n1\t2\n')).toMatchObject([{ cells: ['a', 'b'] }, { cells: ['1', '2'] }]);
  });

  test('reads back what was written, however it is split', async () => {
    const cell = fc.string({ unit: fc.constantFrom('a', 'é', '漢', ',', '"', ';', ' ', '-'), maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ first: cell, second: cell }), { maxLength: 12 }),
        fc.integer({ min: 1, max: 40 }),
        async (rows, size) => {
          const records = await csv(toCsv(['first', 'second'], rows, true), size);
          const read = records.slice(1).map(record => ('cells' in record ? record.cells.map(cellText) : record));
          expect(read).toEqual(rows.map(row => [row.first, row.second]));
        },
      ),
      { numRuns: 500 },
    );
  });

  test.each([
    ['no other quote', 'UKEY,S,Acme,One'],
    ['quotes on every line', 'UKEY,S,"Acme, ""Inc.""",One'],
    ['an empty quoted cell on every line', 'UKEY,S,"",One'],
  ])('loses one line of 25,000 to a forgotten quote in a file with %s', async (_, row) => {
    const rows = Array.from({ length: 25_000 }, (__, n) => (n === 1 ? 'UKEY,S,"Acme,One' : row));
    const records = await csv(`a,b,c,d\n${rows.join('\n')}`, 1024);
    expect(records.filter(record => 'problem' in record)).toEqual([{ line: 3, problem: expect.any(String) }]);
    expect(records.map(({ line }) => line)).toEqual(Array.from({ length: 25_001 }, (__, n) => n + 1));
  });

  test.each([
    ['=1+1', "'=1+1"],
    ['+49', "'+49"],
    ['-', "'-"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\tx', "'\tx"],
    ['\rx', `"'\rx"`],
    ['＝1+1', "'＝1+1"],
    ['＋49', "'＋49"],
    ['－', "'－"],
    ['＠SUM(A1)', "'＠SUM(A1)"],
    ["'＝1", "''＝1"],
    ['=a,"b"', `"'=a,""b"""`],
    ["'quoted'", "'quoted'"],
    ['a=1', 'a=1'],
  ])('writes the text %j as the cell %j, and reads it back', async (text, cell) => {
    expect(csvCell(text)).toBe(cell);
    const [, record] = await csv(`a,b\n${cell},x\n`);
    expect(record && 'cells' in record ? cellText(record.cells[0]!) : record).toBe(text);
  });

  test('never throws and never loops, and line numbers ascend', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r'), maxLength: 60 }),
        fc.integer({ min: 1, max: 9 }),
        async (text, size) => {
          const lines = (await csv(text, size)).map(record => record.line);
          expect(lines).toEqual([...lines].sort((a, b) => a - b));
          expect(new Set(lines).size).toBe(lines.length);
          expect(lines.at(-1) ?? 0).toBeLessThanOrEqual(text.split('\n').length);
        },
      ),
      { numRuns: 3_000 },
    );
  });
});

describe('JSON', () => {
  test('elements of an array have the line in which they start, however the text is split', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { maxLength: 8 }),
        fc.constantFrom(0, 1, 2),
        fc.integer({ min: 1, max: 30 }),
        async (values, indent, size) => {
          const text = JSON.stringify(values, null, indent);
          const elements = await rows(readJsonArray(pieces(text, size)));
          expect(elements.map(element => 'object' in element && element.object)).toEqual(JSON.parse(text));
        },
      ),
    );
    const lines = await rows(readJsonArray(pieces('[\n {"a":\n1},\n\n 2 , "x,]"\n]\n', 3)));
    expect(lines.map(({ position }) => position.line)).toEqual([2, 5, 5]);
  });

  test.each(['', '{}', '[1', '[1,]', '[,1]', '[1]x', '["a]'])('%j is not an array', async text => {
    await expect(all(readJsonArray(pieces(text, 2)))).rejects.toBeInstanceOf(InvalidInput);
  });

  test.each([
    ['{}x', 'keys.jsonl', 'no rows'],
    [`[${' '.repeat(2 ** 21)}`, 'keys.json', 'too long'],
    ['"'.repeat(2 ** 21), 'keys.csv', 'too long'],
  ])('why an input cannot be read is a fault (%#)', async (text, file, what) => {
    const bytes = (async function* () {
      yield Buffer.from(text);
    })();
    const read = openTable(bytes, { file, fields: deviceFields, isDraft: true }).then(table => all(table.rows));
    await (what === 'no rows'
      ? expect(read).resolves.toMatchObject([{ problem: 'not valid JSON' }])
      : expect(read).rejects.toBeInstanceOf(InvalidInput));
  });

  test('empty lines count', async () => {
    expect((await all(eachLine(pieces('1\n\n 2\r\n3', 2)))).map(({ line, text }) => [line, text.trim()])).toEqual([
      [1, '1'],
      [3, '2'],
      [4, '3'],
    ]);
  });
});

/** A text without an end, and how much of it was read. */
function endless(start: string, piece: string) {
  const read = { pieces: 0 };
  async function* text(): AsyncGenerator<string> {
    yield start;
    for (; ; read.pieces++) yield piece;
  }
  return { read, text: text() };
}

describe('an input without an end', () => {
  const piece = 1024;
  const readers = {
    csv: readCsv,
    lines: readJsonLines,
    array: readJsonArray,
    peek: (text: AsyncGenerator<string>) => peek(text).then(() => []),
  };
  test.each([
    ['csv', 'a,b\n\n', 'x', 'line 3 has'],
    ['csv', 'a,b\n"', 'x', 'line 2 has'],
    ['lines', '1\n', '"', 'line 2 has'],
    ['array', '[\n"', 'x', 'line 2 has'],
    ['array', '[1,', ' ', 'line 1 has'],
    ['peek', '', ' ', 'white space'],
    ['peek', '\n', '\n', 'white space'],
  ] as const)('%s: %j and %j without end is refused', async (reader, start, unit, problem) => {
    const { read, text } = endless(start, unit.repeat(piece));
    const run = async () => {
      for await (const _ of await readers[reader](text));
    };
    await expect(run()).rejects.toThrow(problem);
    expect(read.pieces).toBeLessThan(2_000);
  });

  test('blank lines without end before the header row of CSV are not kept, and count', async () => {
    const blank = '\n'.repeat(100_000);
    expect(await csv(`${blank}a,b\n1,2\n`)).toEqual([
      { line: 100_001, cells: ['a', 'b'] },
      { line: 100_002, cells: ['1', '2'] },
    ]);
  });
});

test.each([
  ['serialNumber', 'serialNumber'],
  ['Serial Number', 'serialNumber'],
  ['SERIAL_NUMBER', 'serialNumber'],
  [' sn ', 'serialNumber'],
  ['Device-Type', 'deviceType'],
  ['type', 'deviceType'],
  ['Firmware Version', 'firmwareVersion'],
  ['vendor', 'manufacturer'],
  ['comment', null],
  ['__proto__', null],
])('the column "%s" is %s', (name, field) => {
  expect(meaningsOf(deviceFields, name)[0]?.field ?? null).toBe(field);
});

test('a file is opened when its first row is wanted: one that is gone is reported then, and does not end the program before', async () => {
  const file = join(temporaryFolder(), 'gone.csv');
  const bytes = bytesOf({ file, stdin: Readable.from([]) });
  // Longer than it takes to find that the file does not exist.
  for (let i = 0; i < 5; i++) await expect(access(file)).rejects.toThrow('ENOENT');
  await expect(bytes.next()).rejects.toThrow('gone.csv cannot be read');
});
