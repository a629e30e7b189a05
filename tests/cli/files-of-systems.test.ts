/** The files of other systems, with the lines of docs/import.md that read them. */
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Daemon, discard, startDaemon, temporaryFolder } from './program.ts';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'tests/fixtures/files-of-systems');

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

/** Keys, codes and tokens of the files. */
const secrets =
  /[0-9A-F]{32}|31323334353637383930|MTIzNDU2Nzg5|A1_TEST_TOKEN|48210377|99310452|JQ-209U6H|4821|11112222|12345678|ca62ba|c3d2e1f0|a1b2c3d4e5f/;

const page = readFileSync(join(root, 'docs/import.md'), 'utf8').split('\n');
/** The lines of the tables whose command begins so. */
const rowsOf = (start: string) =>
  page.flatMap(line => {
    const [, system, command, expected] = /^\| (.*) \| `devmgr (.*)` \| (.*) \|$/.exec(line) ?? [];
    const isOf = expected !== undefined && command!.startsWith(start) && !system!.includes('|');
    return isOf ? [{ system: system!, command: command!, expected }] : [];
  });
const rows = rowsOf('register --file ');

/** The words of a command line; quotes hold words together. */
const wordsOf = (line: string) => [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!);

test('the page has a line for each system', () => expect(rows.length).toBeGreaterThan(20));

describe.each(rows)('$system', ({ command, expected }) => {
  test(`${command}: ${expected}`, async () => {
    const [, , name, ...flags] = wordsOf(command.replace(/(\S+)="([^"]*)"/g, '"$1=$2"'));
    const file = join(temporaryFolder(), name!);
    copyFileSync(join(folder, 'register', name!), file);
    const run = await daemon.run(['register', '--file', file, ...flags, '--dry-run', '--json']);
    expect(run.stdout + run.stderr).not.toMatch(secrets);
    if (expected.startsWith('refused')) {
      expect([run.code, run.stderr]).toEqual([2, expect.stringContaining('HTML')]);
      return;
    }
    const wanted = Object.fromEntries(
      [...expected.matchAll(/(\d+) (new|repeated|refused)/g)].map(([, count, what]) => [
        what === 'refused' ? 'invalid' : what,
        Number(count),
      ]),
    );
    const found: Record<string, number> = {};
    for (const { status } of run.rows) found[status] = (found[status] ?? 0) + 1;
    expect(found).toEqual(wanted);
    expect(run.code).toBe('invalid' in wanted ? 7 : 0);
    const { preview } = JSON.parse(run.stderr.split('\n').find(line => line.startsWith('{"preview"'))!);
    expect(preview.columns.some(({ field }: { field: string }) => field === 'serialNumber')).toBe(true);
  });
});

test.each([
  [
    'register',
    ['thingsboard-devices.csv', '--type', 'UKEY', '--manufacturer', 'A', '--model', 'B'],
    '--map serialNumber=COLUMN',
  ],
  ['register', ['privacyidea-oath.csv'], 'add --map privacyidea'],
  ['register', ['token2-fido.csv'], '--type … --manufacturer …'],
  [
    'lock',
    ['../register/feitian-barcode.csv', '--reason', 'r', '--where', 'Item=nothing'],
    '--where leaves out all 2 rows',
  ],
])('%s: a file that is not understood is refused with what to type (%j)', async (command, [name, ...flags], words) => {
  const file = join(folder, command === 'lock' ? 'lock' : 'register', name!);
  const run = await daemon.run(
    [command, '--file', file, ...flags, '--yes'].filter(flag => command === 'lock' || flag !== '--yes'),
  );
  expect([run.code, run.stdout, run.stderr]).toEqual([2, '', expect.stringContaining(words)]);
  expect(run.stderr).not.toMatch(secrets);
});

describe.each(rowsOf('people import ').filter(({ expected }) => /^\d/.test(expected)))('$system', row => {
  test(`${row.command}: ${row.expected}`, async () => {
    const file = join(folder, 'roster', wordsOf(row.command).at(-1)!);
    const run = await daemon.run(['people', 'import', file, '--dry-run', '--json']);
    const found: Record<string, number> = {};
    for (const { status } of run.rows) found[status] = (found[status] ?? 0) + 1;
    const wanted = [...row.expected.matchAll(/(\d+) (\w+)/g)].map(([, count, what]) => [what, Number(count)]);
    expect([run.code, found]).toEqual([0, Object.fromEntries(wanted)]);
  });
});

test.each(rowsOf('trust add '))('$command is $expected', async ({ command }) => {
  const run = await daemon.run(['trust', 'add', join(folder, 'trust', wordsOf(command).at(-1)!)]);
  expect(run).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('devmgr: metadata: ') });
});

test('the page names every file, and no file is named that is not there', () => {
  const folders = ['register', 'roster', 'lock', 'trust'] as const;
  const there = folders.flatMap(name => readdirSync(join(folder, name)));
  const lines = ['register --file ', 'people import ', 'lock --file ', 'trust add '].flatMap(rowsOf);
  const named = lines.flatMap(({ command }) => there.filter(name => wordsOf(command).includes(name)));
  expect([...new Set(named)].sort()).toEqual([...new Set(there)].sort());
});

test.each(['mac-cr-only.csv', 'sep-line.csv'])('lock reads %s', async name => {
  const run = await daemon.run(['lock', '--file', join(folder, 'lock', name), '--reason', 'r', '--dry-run', '--json']);
  const serials = name.startsWith('mac') ? ['20470001', '20470002'] : ['20470001'];
  expect(run.rows.map(({ serialNumber }: { serialNumber: string }) => serialNumber)).toEqual(serials);
});

test('a map is saved by name, used, listed and removed', async () => {
  const file = join(folder, 'register/thingsboard-devices.csv');
  const flags = ['--type', 'UKEY', '--manufacturer', 'A', '--model', 'B', '--dry-run'];
  const saved = await daemon.run([
    'register',
    '--file',
    file,
    '--map',
    'serialNumber=name',
    '--save-map',
    'boards',
    ...flags,
  ]);
  expect([saved.code, saved.stderr]).toEqual([0, expect.stringContaining('--map boards')]);
  expect((await daemon.run(['register', '--file', file, '--map', 'boards', ...flags])).stdout).toContain('meter-0001');
  expect((await daemon.run(['config', 'maps', '--json'])).json).toEqual([
    { name: 'boards', map: ['serialNumber=name'], where: [] },
  ]);
  expect((await daemon.run(['config', 'maps', 'boards', 'remove'])).code).toBe(0);
  const gone = await daemon.run(['register', '--file', file, '--map', 'boards', ...flags]);
  expect([gone.code, gone.stderr]).toEqual([2, expect.stringContaining('saved map')]);
});

test('a dry run holds a part of a long file, and compares each part with the registry', {
  timeout: 120_000,
}, async () => {
  const { deviceId } = await daemon.register('LONG-249999');
  const file = join(temporaryFolder(), 'long.csv');
  const lines = Array.from({ length: 250_000 }, (_, row) => `LONG-${row},UKEY,Acme Corporation,Model X`);
  writeFileSync(file, ['serial,type,manufacturer,model', ...lines, lines[0], ''].join('\n'));
  const out = join(temporaryFolder(), 'plan.jsonl');
  // All results of the file take twice as much.
  const env = { NODE_OPTIONS: '--max-old-space-size=100' };
  const run = await daemon.run(['register', '--file', file, '--dry-run', '--out', out], { env });
  expect([run.code, run.stderr]).toEqual([0, expect.stringContaining('249,999 new, 1 already registered')]);
  const [last, repeated] = readFileSync(out, 'utf8').trimEnd().split('\n').slice(-2);
  expect(JSON.parse(last!)).toMatchObject({ line: 250_001, status: 'registered', deviceId });
  expect(JSON.parse(repeated!)).toMatchObject({ status: 'repeated', message: 'line 250002 repeats line 2' });
});

test('a serial number that is registered in other letters is asked about, and --as-is registers it', async () => {
  await daemon.register('uk-case-7');
  const file = join(temporaryFolder(), 'keys.csv');

  writeFileSync(file, 'serial,type,manufacturer,model\nUK-CASE-7,UKEY,A,B\n');
  const refused = await daemon.run(['register', '--file', file, '--json']);
  expect([refused.code, refused.rows[0].message]).toEqual([
    7,
    expect.stringMatching(/as uk-case-7\. If it is another key/),
  ]);
  expect((await daemon.run(['register', '--file', file, '--as-is'])).code).toBe(0);
});
