/** How a command line is parsed, and that help, examples, completion and manual page agree with the parser. */
import { describe, expect, test } from 'vitest';
import { commandTable } from '../../src/cli/commands/index.ts';
import { endings } from '../../src/cli/exit-codes.ts';
import type { CommandNode } from '../../src/cli/framework/command-node.ts';
import { type CommandTable, command } from '../../src/cli/framework/define.ts';
import type { FlagShapes } from '../../src/cli/framework/flags.ts';
import { createProgram } from '../../src/cli/framework/program.ts';

/** The command that the words name, as it would be run, and the help that was written. */
async function understood(words: readonly string[], table: CommandTable = commandTable, columns = 80) {
  let node: CommandNode | null = null;
  const help: string[] = [];
  const program = createProgram({
    table,
    endings,
    columns,
    paint: (_, text) => text,
    write: text => help.push(text),
    say: text => help.push(text),
    act: async found => {
      node = found;
    },
  });
  try {
    await program.run(words);
  } catch (error) {
    if (help.length === 0) throw error;
  }
  return { node: node as CommandNode | null, help: help.join('') };
}

const flags = {
  type: { value: 'TYPE', choices: ['UKEY', 'SIMKEY'], help: '' },
  tag: { value: 'TAG', many: true, help: '' },
  pair: { value: 'NAME=VALUE', help: '' },
  count: { value: 'N', whole: { min: 1, max: 9 }, short: 'n', help: '' },
  size: { value: 'N', default: 20, help: '' },
  place: { value: 'PLACE', env: 'DEVMGR_TEST_PLACE', help: '' },
  'dry-run': { help: '', aliases: ['simulate'] },
  all: { help: '', conflicts: ['count'] },
  force: { help: '', needs: 'type' },
  fast: { short: 'f', help: '' },
  keep: { short: 'k', help: '' },
  'no-start': { help: '' },
} as const satisfies FlagShapes;
const args = [{ name: 'WORDS', help: '', optional: true, rest: true }] as const;
const shape = command({ args, flags, examples: {}, run: () => Promise.resolve() });
const table: CommandTable = {
  sections: [{ title: 'Test', entries: [{ name: 'try', summary: 'test', load: () => Promise.resolve(shape) }] }],
  groups: {},
  topics: {},
};
const parse = async (...words: string[]) => (await understood(['try', ...words], table)).node!;

describe('flags', () => {
  test('can be in any order, with their value after = or a space', async () => {
    const { args, values } = await parse('a', '--type=ukey', 'b', '--count', '3');
    expect(args).toEqual(['a', 'b']);
    expect(values).toMatchObject({
      type: 'UKEY',
      tag: [],
      count: 3,
      size: 20,
      dryRun: false,
      start: true,
      json: false,
    });
  });

  test('end at --, and a single dash is an argument', async () => {
    expect((await parse('-', '--', '--type', '-q')).args).toEqual(['-', '--type', '-q']);
  });

  test('of one letter can be combined, also with global ones', async () => {
    expect((await parse('-fqk', '-n3')).values).toMatchObject({ fast: true, quiet: true, keep: true, count: 3 });
  });

  test('can be repeated if they take many values, else the last one counts', async () => {
    expect((await parse('--tag', 'a,b', '--tag=c', '--type', 'UKEY', '--type', 'SIMKEY')).values).toMatchObject({
      tag: ['a', 'b', 'c'],
      type: 'SIMKEY',
    });
  });

  test('have aliases, which the help does not show', async () => {
    expect((await parse('--simulate')).values.dryRun).toBe(true);
    expect((await understood(['try', '--help'], table)).help).not.toContain('--simulate');
  });

  test('are read from the environment if they are absent; an empty variable counts as unset', async () => {
    try {
      process.env.DEVMGR_TEST_PLACE = 'here';
      expect((await parse()).values.place).toBe('here');
      expect((await parse('--place', 'there')).values.place).toBe('there');
      process.env.DEVMGR_TEST_PLACE = '';
      expect((await parse()).values.place).toBeUndefined();
    } finally {
      delete process.env.DEVMGR_TEST_PLACE;
    }
  });

  test.each([
    '--password=hunter-2',
    '--token=hunter-2',
    '--secret=hunter-2',
    '--pin=hunter-2',
    '--confirm-password=hunter-2',
    '--quiet=hunter-2',
    '--typ=hunter-2',
    '--password=first\nhunter-2',
    '-phunter-2',
    '-p=hunter-2',
  ])('%j is refused without its value, which may be a secret', async word => {
    const error = await parse(word).catch(error => error);
    expect(error).toMatchObject({ kind: 'usage', message: expect.stringMatching(/option '--?\w/) });
    expect(`${error.message} ${error.hint}`).not.toContain('hunter');
  });

  test.each([
    ['--password', 'hunter-2'],
    ['--token', 'hunter-2'],
    ['-p', 'hunter-2'],
    ['users', '--password', 'hunter-2'],
    ['--json', '--password', 'hunter-2', '--help'],
  ])(
    'the word after an unknown one may be its secret value, and is not repeated without a command: %j %j',
    async (...words) => {
      const error = await understood(words).catch(error => error);
      expect(error).toMatchObject({ kind: 'usage', message: expect.stringMatching(/^unknown option '--?\w+'/) });
      expect(`${error.message} ${error.hint}`).not.toContain('hunter');
    },
  );

  test.each([
    [['--typ', 'UKEY'], "unknown option '--typ'", 'did you mean --type?'],
    [['--type'], "option '--type <TYPE>' argument missing", 'see: devmgr try --help'],
    [['--type', '--quiet'], "option '--type <TYPE>' argument missing", '--type=--quiet'],
    [['--pair', '--type', 'UKEY'], "option '--pair <NAME=VALUE>' argument missing", '--pair type=VALUE'],
    [['--type', 'KEY'], "argument 'KEY' is invalid. Allowed choices are UKEY, SIMKEY.", 'see: devmgr try --help'],
    [['--quiet=yes'], "option '--quiet' takes no value", ''],
    [['--count', '0'], 'from 1 to 9', ''],
    [['--count', '1.5'], 'from 1 to 9', ''],
    [['--all', '--count', '2'], "option '--all' cannot be used with option '-n, --count <N>'", ''],
    [['--force'], "option '--force' needs option '--type'", ''],
    [['--constructor'], "unknown option '--constructor'", ''],
    [['-x'], "unknown option '-x'", ''],
    [['--typ=UKEY'], "unknown option '--typ'", 'did you mean --type?'],
  ])('%j is rejected', async (words, message, hint) => {
    const error = await parse(...words).catch(error => error);
    expect(error).toMatchObject({ kind: 'usage', message: expect.stringContaining(message) });
    expect(error.hint).toContain(hint);
  });
});

describe('a command', () => {
  const found = async (...words: string[]) => {
    const { node, help } = await understood(words);
    return node ? [node.path, ...node.args] : help.split('\n')[0];
  };

  test('is found after and between flags, whose values are not taken for it', async () => {
    expect(await found('list', '--all')).toEqual(['list']);
    expect(await found('--server', 'list', 'show', 'X')).toEqual(['show', 'X']);
    expect(await found('--json', 'daemon', '--home', 'x', 'status')).toEqual(['daemon status']);
    expect(await found('--type', 'UKEY', 'list')).toEqual(['list']);
    expect(await found('daemon', 'backup', '--', '--json')).toEqual(['daemon backup', '--json']);
  });

  test.each([
    [['regsiter'], "unknown command 'regsiter'", 'did you mean register?'],
    [['deamon', 'status'], "unknown command 'deamon'", 'did you mean daemon?'],
    [['daemon', 'strat'], "unknown command 'strat'", 'did you mean start?'],
    [['audit'], "unknown command 'audit'", 'did you mean devmgr daemon audit?'],
    [['rm', 'DEV-1'], "unknown command 'rm'", 'devices are retired, not deleted: devmgr deactivate DEVICE'],
    [['delete'], "unknown command 'delete'", 'devices are retired, not deleted: devmgr deactivate DEVICE'],
    [['remove', 'X'], "unknown command 'remove'", 'devices are retired, not deleted: devmgr deactivate DEVICE'],
    [
      ['device', 'remove', 'X'],
      "unknown command 'device'",
      'leave that word out, as in devmgr show DEVICE; devices are retired, not deleted: devmgr deactivate DEVICE',
    ],
    [['users', 'delete'], "unknown command 'delete'", 'see: devmgr users --help'],
    [['xyzzy'], "unknown command 'xyzzy'", 'see: devmgr --help'],
    [['xyzzy', '--help'], "unknown command 'xyzzy'", 'see: devmgr --help'],
    [['foo', 'list'], "unknown command 'foo'", 'see: devmgr --help'],
  ])('%j does not exist', async (words, message, hint) => {
    await expect(understood(words)).rejects.toMatchObject({ message, hint });
  });

  test('without a name is help, and so is help with a name', async () => {
    expect(await found()).toBe('Usage: devmgr [options] [command]');
    expect(await found('help')).toBe('Usage: devmgr [options] [command]');
    expect(await found('help', 'list')).toBe('Usage: devmgr list [options]');
    expect(await found('help', 'daemon', 'run')).toBe('Usage: devmgr daemon run [options]');
    expect(await found('daemon')).toBe('Usage: devmgr daemon [options] [command]');
    expect(await found('daemon', 'help', 'run')).toBe('Usage: devmgr daemon run [options]');
  });
});

const entries = commandTable.sections.flatMap(section => section.entries);

describe('help', () => {
  const title = /^(\S.*):$/gm;
  const titles = (help: string) => [...help.matchAll(title)].map(([, words]) => words);

  test('of the program fits a terminal of 24 rows, with the line that asked for it and the next prompt', async () => {
    const { help } = await understood(['--help']);
    expect(help.trimEnd().split('\n').length).toBeLessThanOrEqual(22);
    for (const { title, entries, isRare } of commandTable.sections) {
      expect(help.includes(`${title}:`)).toBe(!isRare);
      if (isRare) continue;
      for (const { name } of entries) expect(help).toMatch(new RegExp(`[ ,]${name.split(' ')[0]}\\b`));
    }
    expect(help).toContain('devmgr --help --all');
  });

  test.each([
    ['--help', '--all'],
    ['--all', '--help'],
    ['help', '--all'],
  ])('of the program with every command, option and exit code: %s %s', async (...words) => {
    const { help } = await understood(words);
    const sections = commandTable.sections.map(({ title }) => title);
    expect(titles(help)).toEqual([...sections, 'Global options', 'Exit codes']);
    for (const { name, summary } of entries) expect(help).toMatch(new RegExp(`  ${name}\\b.*  ${summary}`));
    expect(help).toContain('--no-autostart');
    expect(help).toContain('130  interrupted');
  });

  test('of the program has at most 30 commands and groups', async () => {
    const lines = (await understood(['--help'])).help
      .split('\n')
      .filter(line => /^ {2,}[\w -]+:? |^ {10,}\w/.test(line));
    const names = lines.flatMap(line => line.replace(/^.*: /, '').split(',')).map(name => name.trim());
    expect(names.filter(name => /^[\w-]+$/.test(name)).length).toBeLessThanOrEqual(30);
  });

  test('of a command with many options shows the usual ones on one screen, and the others with --all', async () => {
    const { help } = await understood(['enroll', '--help']);
    const lines = help.trimEnd().split('\n').length;
    expect([lines >= 24, lines <= 40]).toEqual([true, true]);
    expect(help).toContain('--station <NAME>');
    expect(help).not.toContain('--redeliver');
    expect(help).toContain('devmgr enroll --help --all');
    for (const words of [
      ['--help', '--all'],
      ['--all', '--help'],
    ]) {
      const all = (await understood(['enroll', ...words])).help;
      expect(all).toContain('--redeliver <FILE>');
      expect(all).toContain('enroll spool flush');
    }
  });

  test('of a command shows its own options and examples before the global options', async () => {
    const { help } = await understood(['list', '--help']);
    expect(titles(help)).toEqual(['Options', 'Examples', 'Global options']);
  });

  test('of a group shows its commands first', async () => {
    expect(titles((await understood(['users', '--help'])).help)).toEqual(['Commands', 'Global options']);
  });

  test.each(Object.entries(commandTable.topics))('of the topic %s is its text', async (name, text) => {
    const { help } = await understood(['help', name]);
    expect(help.split(/\s+/).join(' ').trim()).toBe(text.split(/\s+/).join(' '));
    expect(tooWide(help, 80)).toEqual([]);
  });

  test.each([['--help'], ['--help', '--all'], ['daemon', '--help']])(
    'is within every width: %s %s',
    async (...words) => {
      for (let columns = 40; columns <= 100; columns++) {
        const { help } = await understood(words, commandTable, columns);
        expect(tooWide(help, columns)).toEqual([]);
      }
    },
  );
});

describe('another name of a command', () => {
  const named = async (...words: string[]) => (await understood(words)).node?.path;

  test('runs it, with flags in any place', async () => {
    expect(await named('ls')).toBe('list');
    expect(await named('users', '--json', 'ls')).toBe('users list');
    expect(await named('--server', 'ls', 'tokens', 'rm', 'name')).toBe('tokens remove');
    expect(await named('status', '--json')).toBe('daemon status');
  });

  test('is shown in the help of the command and in the list of all commands', async () => {
    expect((await understood(['status', '--help'])).help).toContain('Also: devmgr status\n');
    expect((await understood(['users', '--help'])).help).toContain('users list, users ls ');
    expect((await understood(['--help', '--all'])).help).toContain('daemon status, status ');
  });

  test('is not a name of anything else', () => {
    const names = entries.map(({ name }) => name);
    const others = entries.flatMap(({ aliases = [] }) => aliases);
    const groups = Object.keys(commandTable.groups);
    expect(new Set([...names, ...groups, ...others]).size).toBe(names.length + groups.length + others.length);
  });
});

test('a flag takes the same kind of value in every command, and a letter stands for one flag', async () => {
  const shapes = await Promise.all(entries.map(async ({ load }) => Object.entries((await load()).flags)));
  const all = shapes.flat();
  const several = (pairs: readonly (readonly [string, string])[]) =>
    [...Map.groupBy(pairs, ([name]) => name)]
      .map(([name, found]) => [name, ...new Set(found.map(([, value]) => value))])
      .filter(({ length }) => length > 2);
  // Who leaves, and what happens to the keys then.
  expect(several(all.map(([name, { value = '' }]) => [name, value] as const))).toEqual([
    ['leavers', 'COLUMN=VALUE', 'ACTION'],
  ]);
  // enroll counts keys, and a log is followed, as other programs do it.
  expect(several(all.flatMap(([name, { short }]) => (short ? [[short, name] as const] : [])))).toEqual([
    ['n', 'count', 'limit'],
    ['f', 'file', 'follow'],
  ]);
});

describe.each(entries.map(entry => [entry.name, entry] as const))('devmgr %s', (name, entry) => {
  test('has flags that are spelled differently from each other and from the global ones', async () => {
    const { help } = await understood([...name.split(' '), '--help']);
    expect(help).toContain(`Usage: devmgr ${name} `);
  });

  test('has examples that are valid', async () => {
    const { examples } = await entry.load();
    expect(examples).not.toEqual({});
    for (const line of Object.values(examples)) expect((await understood(shellWords(line))).node?.path).toBe(name);
  });

  test('has a short description; what it refers to exists', async () => {
    const { description = '' } = await entry.load();
    expect(description.length).toBeLessThan(800);
    for (const [, topic] of description.matchAll(/devmgr help (\w+)/g))
      expect(commandTable.topics).toHaveProperty(topic!);
  });

  test('has help that names each flag and argument, within the width', async () => {
    const { flags, args = [] } = await entry.load();
    for (const columns of [40, 60, 80, 200]) {
      const { help } = await understood([...name.split(' '), '--help', '--all'], commandTable, columns);
      for (const flag of Object.keys(flags)) expect(help).toContain(`--${flag}`);
      for (const argument of args) expect(help).toContain(argument.name);
      expect(tooWide(help, columns)).toEqual([]);
    }
  });
});

/** Lines that could be broken and are not. A single word is not broken, nor is a command line to copy. */
const tooWide = (help: string, columns: number): string[] =>
  help.split('\n').filter(line => line.length > columns && line.trim().includes(' ') && !line.startsWith('  devmgr '));

/** The words of a line up to the first pipe, redirection or further command, without quotes. */
function shellWords(line: string): string[] {
  const own = /^(?:[^|>&"]|"[^"]*")*/.exec(line)![0];
  return [...own.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare!);
}

test('a flag that would set the value of another flag has no type', () => {
  const shape = { description: '', examples: {}, run: async () => {} };
  const color = { color: { value: 'COLOR', help: '' } } as const;
  const both = { proof: { help: '' }, 'no-proof': { help: '' } } as const;
  // @ts-expect-error --no-color sets `color` as well
  expect(command({ ...shape, flags: color }).flags).toBe(color);
  // @ts-expect-error both set `proof`
  expect(command({ ...shape, flags: both }).flags).toBe(both);
  const none = { 'no-proof': { help: '' }, output: { value: 'FORMAT', help: '' } } as const;
  expect(command({ ...shape, flags: none }).flags).toBe(none);
});
