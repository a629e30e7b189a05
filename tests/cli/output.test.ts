/** The forms in which results are written: --output, --fields and --jq, beside --json and --csv. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { toYaml } from '../../src/cli/terminal/yaml.ts';
import { type Daemon, discard, startDaemon } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
  for (const serial of ['F-1', 'F-2', 'F-3']) await daemon.register(serial);
});
afterAll(() => discard(daemon));

const asc = ['--sort', 'deviceId', '--order', 'asc'];
const written = async (...args: string[]) => {
  const { code, stdout, stderr } = await daemon.run(args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) });
  return stdout;
};

describe('--output', () => {
  test('json and csv are what --json and --csv are', async () => {
    for (const command of [['list'], ['list', '--all'], ['users', 'list'], ['tokens', 'list'], ['apps', 'list']]) {
      expect(await written(...command, '-o', 'json')).toBe(await written(...command, '--json'));
      expect(await written(...command, '--output=CSV')).toBe(await written(...command, '--csv'));
    }
    expect(await written('show', 'DEV-1', '--output', 'json')).toBe(await written('show', 'DEV-1', '--json'));
  });

  test('yaml has the values of JSON, for a page, for all devices and for one', async () => {
    const { json } = await daemon.run(['list', '--json']);
    expect(parse(await written('list', '-o', 'yaml'))).toEqual(json);
    expect(parse(await written('list', '--all', '--size', '2', '-o', 'yaml'))).toEqual(json.list);
    expect(parse(await written('list', '--all', '--keyword', 'none-such', '-o', 'yaml'))).toEqual([]);
    expect(parse(await written('show', 'DEV-2', '-o', 'yaml'))).toEqual(
      (await daemon.run(['show', 'DEV-2', '--json'])).json,
    );
  });

  test('ndjson is a line for each item of a page', async () => {
    const { rows } = await daemon.run(['list', '--size', '2', '-o', 'ndjson', ...asc]);
    expect(rows.map(row => row.deviceId)).toEqual(['DEV-1', 'DEV-2']);
    expect((await daemon.run(['events', '--limit', '2', '-o', 'ndjson'])).rows).toHaveLength(2);
  });

  test('wide adds columns to the table', async () => {
    expect((await written('list')).split('\n')[0]).not.toContain('LAST USED');
    expect((await written('list', '-o', 'wide')).split('\n')[0]).toMatch(/^DEVICE .* ACTIVATED +LAST USED +TAGS$/);
    expect(await written('list', '-o', 'table')).toBe(await written('list'));
  });

  test.each([
    ['--json', '-o', 'csv'],
    ['--csv', '-o', 'json'],
    ['--json', '-o', 'ndjson'],
    ['--jq', '.', '-o', 'yaml'],
    ['--jq', '.', '--csv'],
    ['--json', '--csv'],
  ])('refuses a contradiction: %s %s %s', async (...flags) => {
    const { code, stdout, stderr } = await daemon.run(['list', ...flags.filter(flag => flag !== undefined)]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/cannot be combined|cannot be used with/);
  });

  test('reports errors as JSON if it is JSON', async () => {
    for (const flags of [['-o', 'json'], ['--output=json'], ['-ojson'], ['-o', 'ndjson']]) {
      const { code, stderr } = await daemon.run(['list', '--size', '101', ...flags]);
      expect(code).toBe(2);
      expect(JSON.parse(stderr).error.code).toBe(1001);
    }
  });

  test('is completed with its formats', async () => {
    const ask = async (...words: string[]) =>
      (await written('completion', 'zsh', '--offer', '--', ...words)).split('\n').map(line => line.split('\t')[0]);
    expect(await ask('list', '-o', '')).toEqual(['words', 'table', 'wide', 'json', 'yaml', 'csv', 'ndjson', '']);
    expect(await ask('show', '--output', 'y')).toEqual(['words', 'yaml', '']);
    expect(await ask('list', '--fields', 'serial')).toEqual(['words', 'serialNumber', '']);
  });
});

describe('--fields', () => {
  test('chooses fields and their order, in every form', async () => {
    const fields = ['--fields', 'serialNumber,deviceId', ...asc, '--size', '1'];
    expect(await written('list', ...fields, '--csv')).toBe('serialNumber,deviceId\nF-1,DEV-1\n');
    expect(await written('list', ...fields)).toBe('SERIAL NUMBER  DEVICE ID\nF-1            DEV-1\n');
    expect(await written('list', ...fields, '-o', 'ndjson')).toBe('{"serialNumber":"F-1","deviceId":"DEV-1"}\n');
    const { json } = await daemon.run(['list', ...fields, '--json']);
    expect(json).toMatchObject({ list: [{ serialNumber: 'F-1', deviceId: 'DEV-1' }], pagination: { total: 3 } });
    expect(Object.keys(json.list[0])).toEqual(['serialNumber', 'deviceId']);
    expect(
      await written(
        'list',
        '--all',
        '--fields',
        'DEVICEID',
        '--fields',
        'status',
        '--jq',
        '[.deviceId, .status]',
        ...asc,
      ),
    ).toBe('["DEV-1","INACTIVE"]\n["DEV-2","INACTIVE"]\n["DEV-3","INACTIVE"]\n');
    expect(await written('users', 'list', '--fields', 'username')).toBe('USERNAME\nadmin\n');
  });

  test('names the known fields if one is unknown', async () => {
    const { code, stderr } = await daemon.run(['list', '--fields', 'deviceId,serial']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/serial' is invalid.*deviceId, deviceType, serialNumber, manufacturer/);
  });
});

describe('--jq', () => {
  test('names that every object of JavaScript has are absent, as in jq', async () => {
    const names = ['.constructor', '.toString', '.__proto__', '(.list[0].tags.constructor // "none")', '[.valueOf]'];
    expect(await written('list', '--jq', names.join(', '))).toBe('null\nnull\nnull\nnone\n[null]\n');
    expect(await written('list', '--jq', '{} | .constructor, has("a")')).toBe('null\nfalse\n');
  });

  test('the alternative of null, false and what is absent is the only result', async () => {
    const program =
      '(.nothing // "a"), (false // null // "b"), (.list[9].x // "c"), ((null, 1, false, 2) // 3), [.list[].userId // "-"]';
    expect(await written('list', '--jq', program)).toBe('a\nb\nc\n1\n2\n["-"]\n');
  });

  test.each(['{} | .__proto__.polluted = 1', '{} | .constructor.prototype.polluted = 1', '.__proto__.polluted = 1'])(
    '%s does not reach other objects',
    async expression => {
      const { stdout } = await daemon.run(['list', '--jq', `${expression} | {} | .polluted`]);
      expect(['', 'null\n']).toContain(stdout);
    },
  );

  test.each(['x', 'host'])(
    'an assignment to .__proto__.%s ends the list, and Object.prototype stays clean',
    async name => {
      const report = `process.on('exit', () => console.error('inherited:', ({})['${name}'], '${name}' in Object.prototype));`;
      const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(report)}` };
      const steal = `({} | .__proto__.${name} = "127.0.0.2:9") as $a | .serialNumber`;
      const { code, stdout, stderr } = await daemon.run(['list', '--all', '--size', '1', '--jq', steal], { env });
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain(`Cannot add property ${name}`);
      expect(stderr).toContain('inherited: undefined false');
    },
  );

  test('writes strings as they are, and other results as JSON', async () => {
    expect(await written('list', '--jq', '.list[] | select(.serialNumber == "F-2") | .serialNumber')).toBe('F-2\n');
    expect(await written('list', '--jq', '.pagination.total, {n: 1}, null')).toBe('3\n{"n":1}\nnull\n');
    expect(await written('list', '--all', '--jq', '.serialNumber', ...asc)).toBe('F-1\nF-2\nF-3\n');
    expect(await written('show', 'DEV-1', '--jq', '.status')).toBe('INACTIVE\n');
    expect(await written('stats', '--jq', '.byStatus.INACTIVE')).toBe('3\n');
    expect(await written('list', '--jq', '.list[0] | [.status, .deviceType] | @tsv')).toBe('INACTIVE\tUKEY\n');
  });

  test.each(['.list[', 'nosuch(1)', '.list | .a', '"a" - 1', '.["', 'def f: f; f'])(
    'refuses %s in one line',
    async expression => {
      const { code, stdout, stderr } = await daemon.run(['list', '--jq', expression]);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(/^devmgr: --jq: [^\n]+\n$/);
    },
  );

  test('refuses a wrong expression before it asks the server', async () => {
    const { code } = await daemon.run(['list', '--server', 'http://127.0.0.1:1', '--jq', '.[']);
    expect(code).toBe(2);
  });

  // An expression with results shows that it runs; it is between two of them, or in the middle of one, when the signal comes.
  test.each([
    ['SIGINT', 'range(1000000000000)'],
    ['SIGINT', 'range(3000), last(range(1000000000000))'],
    ['SIGTERM', 'range(1000000000000)'],
    ['SIGTERM', 'range(3000), last(range(1000000000000))'],
  ] as const)('%s ends %s', async (signal, expression) => {
    const running = daemon.start(['list', '--jq', expression]);
    await running.until('stdout', /\n2999\n/);
    running.child.kill(signal);
    const { code, stderr } = await running.ended;
    // SIGTERM ends the process by the signal once results have been asked for; so does SIGINT while Node exchanges its handlers for
    // a script.
    if (running.child.signalCode !== null) expect(running.child.signalCode).toBe(signal);
    else
      expect([code, signal === 'SIGINT' ? stderr : '']).toEqual([
        130,
        signal === 'SIGINT' ? 'devmgr: interrupted\n' : '',
      ]);
  });
});

test('YAML of unsafe text has escapes, and parses to the same text', () => {
  const values = [
    '\u001b[31mred\u001b[0m',
    'a\u202eb',
    '\u009b2J',
    'two\nlines',
    'tab\tbed',
    'no',
    '1e3',
    '- x',
    '\u{e0041}',
    ' ',
    '',
  ];
  const text = toYaml({ values, 'key\u0007': 1 });
  expect(text).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u);
  expect(parse(text)).toEqual({ values, 'key\u0007': 1 });
  expect(parse(text, { version: '1.1' }).values).toEqual(values);
});
