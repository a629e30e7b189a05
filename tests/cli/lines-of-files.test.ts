/** Files of devices and people: line ends of any system, and files without rows. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Daemon, discard, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

const fileOf = (text: string, name = 'devices.csv') => {
  const file = join(temporaryFolder(), name);
  writeFileSync(file, text);
  return file;
};
const flags = ['--type', 'UKEY', '--manufacturer', 'Acme', '--model', 'One'];
let made = 0;
const serials = () => [1, 2].map(n => `L${++made}-${n}`);

const ends = { LF: ['\n', '\n'], CRLF: ['\r\n', '\r\n'], CR: ['\r', '\r'], mixed: ['\r', '\r\n'] } as const;

describe.each(Object.entries(ends))('line ends: %s', (_name, [first, second]) => {
  const lines = (...all: string[]) => all.map((line, i) => line + (i % 2 ? second : first)).join('');

  test('of files that register and lock read', async () => {
    const [one, two] = serials();
    const file = fileOf(lines('serialNumber,note', `${one},"a, b"`, `${two},`));
    const made = await daemon.run(['register', '--file', file, ...flags, '--json']);
    expect(made.rows).toMatchObject([
      { line: 2, status: 'success', serialNumber: one },
      { line: 3, status: 'success', serialNumber: two },
    ]);
    for (const text of [lines('serialNumber', one!, two!), lines(one!, two!)]) {
      const { code, rows } = await daemon.run([
        'replace-code',
        '--file',
        fileOf(text),
        '--reason',
        'r',
        '--yes',
        '--json',
      ]);
      expect([code, rows.map(row => row.status)]).toEqual([0, ['success', 'success']]);
    }
  });

  test('of JSON lines', async () => {
    const file = fileOf(lines(...serials().map(serialNumber => JSON.stringify({ serialNumber }))), 'devices.jsonl');
    const { code, rows } = await daemon.run(['register', '--file', file, ...flags, '--json']);
    expect([code, rows.map(row => row.line)]).toEqual([0, [1, 2]]);
  });

  test('of a roster', async () => {
    const roster = fileOf(lines('userId,name', 'ann,Ann', 'bob,Bob'));
    const { stderr } = await daemon.run(['enroll', '--roster', roster, '--timeout', '1', '--dry-run']);
    expect(stderr).toMatch(/Ann[\s\S]*2 people|0 of 2/);
  });
});

describe('a file without rows is refused by name', () => {
  const list = (text: string) => ['lock', '--file', fileOf(text), '--reason', 'r', '--yes'];
  const register = (text: string, name?: string) => ['register', '--file', fileOf(text, name), ...flags];
  test.each([
    ['lock: a header', () => list('serialNumber,model\n'), 'names no device: it has only a header row'],
    ['lock: a header with a line end of CR', () => list('deviceId\r'), 'names no device: it has only a header row'],
    ['lock: blank lines after the header', () => list('deviceId\n\n \n'), 'names no device'],
    ['lock: a preview', () => [...list('deviceId\n'), '--dry-run'], 'names no device'],
    ['lock: blank lines', () => list('\n\r\n'), 'is empty'],
    ['register: a header', () => register('serialNumber,model\n'), 'has no devices: it has only a header row'],
    ['register: a preview', () => [...register('serialNumber\r'), '--dry-run'], 'has no devices'],
    ['register: an empty array', () => register('[ ]', 'devices.json'), 'has no devices'],
    ['register: nothing', () => register(''), 'is empty'],
    ['label: a header', () => ['label', '--file', fileOf('deviceId\n'), '--dry-run'], 'names no device'],
    ['roster: a header', () => ['enroll', '--roster', fileOf('userId\r')], 'it has only a header row'],
  ])('%s', async (_what, args, words) => {
    const { code, stdout, stderr } = await daemon.run(args());
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/devices\.(csv|json)/);
    expect(stderr).toContain(words);
  });
});
