/** Tags in the commands: register, update, show, list, export, filters of changes, files. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Daemon, discard, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
const file = (name: string, text: string): string => {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, text);
  return path;
};
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

const single = (serial: string) => [
  'register',
  '--type',
  'UKEY',
  '--serial',
  serial,
  '--manufacturer',
  'F',
  '--model',
  'M',
];
const tagsOf = async (serial: string) => (await daemon.run(['show', serial, '--json'])).json.tags;
const serialsOf = async (...args: string[]): Promise<string[]> => {
  const { json } = await daemon.run(['list', '--json', '--sort', 'deviceId', '--order', 'asc', ...args]);
  return json.list.map(({ serialNumber }: { serialNumber: string }) => serialNumber);
};

/** Values that CSV, a spreadsheet or a query could change. */
const awkward = [
  '=1+1',
  "'=1+1",
  "''-2",
  "'plain",
  '"quoted", and: a comma',
  '+49 7',
  '@x',
  'ü🔑',
  '-',
  'a=b:c',
  '%2C&tag=x',
];

describe('one device', () => {
  test('is registered with tags, which show prints', async () => {
    await daemon.run([...single('ONE-1'), '--tag', 'lot=7', '--tag', 'shelf= b=4, left ']);
    expect(await tagsOf('ONE-1')).toEqual({ lot: '7', shelf: 'b=4, left' });
    const { stdout } = await daemon.run(['show', 'ONE-1']);
    expect(stdout).toMatch(/^ {2}tags: +lot=7\n +shelf=b=4, left\n/m);
  });

  test('takes a tag as the interface writes it, too: the first sign after the name counts', async () => {
    await daemon.run([...single('ONE-3'), '--tag', 'lot:colon=1', '--tag', 'shelf=a:b']);
    expect(await tagsOf('ONE-3')).toEqual({ lot: 'colon=1', shelf: 'a:b' });
    expect(await serialsOf('--tag', 'lot:colon=1')).toEqual(['ONE-3']);
  });

  test('is updated: tags are set and removed, the others stay', async () => {
    await daemon.run([...single('ONE-2'), '--tag', 'lot=7', '--tag', 'shelf=b', '--tag', 'zone=n']);
    const { code, stdout } = await daemon.run(['update', 'ONE-2', '--tag', 'lot=8', '--remove-tag', 'shelf,none']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/tags: +lot=8\n +zone=n\n/);
    expect(await tagsOf('ONE-2')).toEqual({ lot: '8', zone: 'n' });
  });

  test.each([
    [['--tag', 'lot'], '--tag "lot" is not NAME=VALUE'],
    [['--tag', 'Lot=7'], '--tag: "Lot" is not a name of a tag'],
    [['--tag', 'lot= '], '--tag lot has no value'],
    [['--tag', `lot=${'x'.repeat(129)}`], '--tag lot is longer than 128 characters'],
    [['--tag', 'lot=a\nb'], '--tag lot contains a control character'],
    [['--tag', 'lot=7', '--tag', 'lot=8'], '--tag lot is given twice'],
    [['--remove-tag', 'Lot'], '--remove-tag: "Lot" is not a name of a tag'],
    [['--tag', 'lot=7', '--remove-tag', 'lot'], 'the tag lot is both set and removed'],
    [[], 'nothing to change'],
  ])('update refuses %j with exit code 2', async (flags, words) => {
    const { code, stderr } = await daemon.run(['update', 'DEV-1', ...flags]);
    expect(code).toBe(2);
    expect(stderr).toContain(words);
  });
});

describe('a filter by tag', () => {
  beforeAll(async () => {
    await daemon.run([...single('BY-1'), '--tag', 'by=7', '--tag', 'note=a:b=c, d']);
    await daemon.run([...single('BY-2'), '--tag', 'by=7']);
    await daemon.run([...single('BY-3'), '--tag', 'by=8']);
  });

  test('selects in list and export; several must all match, and a value may have commas', async () => {
    expect(await serialsOf('--tag', 'by=7')).toEqual(['BY-1', 'BY-2']);
    expect(await serialsOf('--tag', 'by=7', '--tag', 'note=a:b=c, d')).toEqual(['BY-1']);
    expect(await serialsOf('--tag', 'by=7', '--tag', 'by=8')).toEqual([]);
    const { rows } = await daemon.run(['export', '--tag', 'by=7']);
    expect(rows.map(({ serialNumber, tags }) => [serialNumber, tags.by])).toEqual([
      ['BY-1', '7'],
      ['BY-2', '7'],
    ]);
  });

  test('selects the devices of a change', async () => {
    const flags = ['--reason', 'audit', '--yes', '--json'];
    const { rows } = await daemon.run([
      'deactivate',
      '--filter',
      'tag=by=8',
      ...flags,
      '--password-file',
      file('pw', 'correct horse battery\n'),
    ]);
    expect(rows.map(({ serialNumber, status }) => [serialNumber, status])).toEqual([['BY-3', 'success']]);
    const wrong = await daemon.run(['lock', '--filter', 'tag=by', ...flags]);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('is not NAME=VALUE');
  });

  test('is in the wide table, and the field tags can be chosen', async () => {
    const wide = await daemon.run(['list', '--tag', 'by=7', '--output', 'wide']);
    expect(wide.stdout).toMatch(/TAGS\n/);
    expect(wide.stdout).toContain('by=7 note=a:b=c, d');
    const chosen = await daemon.run(['list', '--serial', 'BY-2', '--fields', 'tags,serialNumber', '--csv']);
    expect(chosen.stdout).toBe('tag:by,serialNumber\n7,BY-2\n');
    const table = await daemon.run(['list', '--serial', 'BY-2', '--fields', 'tags,serialNumber']);
    expect(table.stdout).toBe('TAGS  SERIAL NUMBER\nby=7  BY-2\n');
    const without = await daemon.run(['list', '--serial', 'BY-2', '--fields', 'serialNumber', '--csv']);
    expect(without.stdout).toBe('serialNumber\nBY-2\n');
  });
});

describe('a file', () => {
  test('has a column tag:NAME for each tag; an empty cell is not a tag', async () => {
    const path = file(
      'cols.csv',
      'type,serial,manufacturer,model, Tag:lot,tag:shelf\nUKEY,COL-1,F,M,7,\nUKEY,COL-2,F,M, ,"b, 4"\n',
    );
    const { code, stderr } = await daemon.run(['register', '--file', path]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('ignored') });
    expect(await tagsOf('COL-1')).toEqual({ lot: '7' });
    expect(await tagsOf('COL-2')).toEqual({ shelf: 'b, 4' });
  });

  test('takes --tag for lines that lack it', async () => {
    const path = file('fill.csv', 'type,serial,manufacturer,model,tag:lot\nUKEY,FILL-1,F,M,7\nUKEY,FILL-2,F,M,\n');
    const dry = await daemon.run(['register', '--file', path, '--tag', 'lot=9', '--dry-run']);
    expect(dry.stderr).toContain('tag:lot; where empty, tag lot is 9');
    await daemon.run(['register', '--file', path, '--tag', 'lot=9', '--tag', 'station=a']);
    expect(await tagsOf('FILL-1')).toEqual({ lot: '7', station: 'a' });
    expect(await tagsOf('FILL-2')).toEqual({ lot: '9', station: 'a' });
  });

  test.each([
    ['tag:Lot', 'which is not a name of a tag'],
    ['tag:', 'which is not a name of a tag'],
    ['tag:__proto__', 'which is not a name of a tag'],
    ['tag:lot,tag:lot', 'two columns for tag:lot'],
  ])('with the columns %s is refused as a whole', async (columns, words) => {
    const path = file('bad.csv', `type,serial,manufacturer,model,${columns}\nUKEY,BAD-1,F,M,1,2\n`);
    const { code, stderr } = await daemon.run(['register', '--file', path]);
    expect(code).toBe(2);
    expect(stderr).toContain(words);
    expect(await serialsOf('--serial', 'BAD-1')).toEqual([]);
  });

  test('reports a line with more than 16 tags, or with a value that is not valid, and registers the others', async () => {
    const names = Array.from({ length: 17 }, (_, i) => `tag:t${i}`);
    const line = (serial: string, count: number) =>
      `UKEY,${serial},F,M,${names.map((_, i) => (i < count ? 'x' : '')).join(',')}`;
    const rows = [line('MANY-1', 17), line('MANY-2', 16), `${line('MANY-3', 0).replace(/,+$/, '')},${'x'.repeat(129)}`];
    const path = file('many.csv', `type,serial,manufacturer,model,${names.join(',')}\n${rows.join('\n')}\n`);
    const { code, rows: results } = await daemon.run(['register', '--file', path, '--json']);
    expect(code).toBe(7);
    expect(results.map(({ status, message }) => [status, message])).toEqual([
      ['failed', expect.stringContaining('tags must have at most 16')],
      ['success', expect.anything()],
      ['failed', expect.stringContaining('tags.t0 is longer than 128')],
    ]);
  });

  test('of JSON has tags, in which bytes that are not UTF-8 are reported', async () => {
    const device = (serialNumber: string, tags: unknown) => ({
      deviceType: 'UKEY',
      serialNumber,
      manufacturer: 'F',
      model: 'M',
      tags,
    });
    const lines = [device('JS-1', { lot: '7' }), device('JS-2', ['lot']), device('JS-3', { lot: '\ufffd' })];
    const path = file('tags.jsonl', lines.map(line => `${JSON.stringify(line)}\n`).join(''));
    const { rows } = await daemon.run(['register', '--file', path, '--json']);
    expect(rows.map(({ status, message }) => [status, message])).toEqual([
      ['success', expect.anything()],
      ['failed', expect.stringContaining('tags must be an object')],
      ['failed', 'tags is not valid UTF-8'],
    ]);
    expect(await tagsOf('JS-1')).toEqual({ lot: '7' });
  });
});

describe('what list and export write', () => {
  const given = new Map(awkward.map((value, i) => [`RT-${i}`, { [`v${i % 3}`]: value, lot: 'round trip' }]));
  beforeAll(async () => {
    for (const [serial, tags] of given)
      await daemon.run([
        ...single(serial),
        ...Object.entries(tags).flatMap(([name, value]) => ['--tag', `${name}=${value}`]),
      ]);
  });

  test.each([
    ['list --csv', ['list', '--csv', '--tag', 'lot=round trip', '--keyword', 'RT-', '--size', '100'], 'csv'],
    [
      'list --all --csv',
      ['list', '--all', '--csv', '--tag', 'lot=round trip', '--keyword', 'RT-', '--size', '4'],
      'csv',
    ],
    ['export --format csv', ['export', '--format', 'csv', '--tag', 'lot=round trip', '--keyword', 'RT-'], 'csv'],
    ['export', ['export', '--tag', 'lot=round trip', '--keyword', 'RT-'], 'jsonl'],
  ])('%s is read back by register --file unchanged', async (what, args, extension) => {
    const { stdout } = await daemon.run(args);
    if (extension === 'csv') expect(stdout.split('\n')[0]).toMatch(/,lastUsedAt,tag:lot,tag:v0,tag:v1,tag:v2$/);
    const prefix = what.replaceAll(/\W/g, '');
    const path = file(`${prefix}.${extension}`, stdout.replaceAll('RT-', `${prefix}-`));
    expect((await daemon.run(['register', '--file', path])).code).toBe(0);
    for (const [serial, tags] of given) expect(await tagsOf(serial.replace('RT', prefix))).toEqual(tags);
    expect(readFileSync(path, 'utf8')).not.toMatch(/(^|,)"?[=+@]/m);
  });
});
