/** How a command line is read, and that help, examples, completion and manual page say the same as the parser. */
import { describe, expect, test } from 'vitest';
import { commands } from '../../src/cli/commands/index.ts';
import type { AnyCommand, FlagShapes } from '../../src/cli/define.ts';
import { findCommand } from '../../src/cli/find.ts';
import { globalFlags } from '../../src/cli/globals.ts';
import { commandHelp } from '../../src/cli/help.ts';
import { nearest } from '../../src/cli/nearest.ts';
import { checkArgs, parseWords, spellings } from '../../src/cli/parse.ts';
import { plain } from '../../src/cli/terminal/style.ts';

const shapes = {
  type: { value: 'TYPE', choices: ['UKEY', 'SIMKEY'], help: '' },
  tag: { value: 'TAG', many: true, help: '' },
  count: { value: 'N', whole: { min: 1, max: 9 }, short: 'n', help: '' },
  'dry-run': { help: '', aliases: ['simulate'] },
  quiet: { short: 'q', help: '' },
  verbose: { short: 'v', help: '' },
} as const satisfies FlagShapes;
const parse = (...words: string[]) => parseWords(words, shapes, 'help');

describe('flags', () => {
  test('come in any order, with their value behind = or a space', async () => {
    expect(await parse('a', '--type=ukey', 'b', '--count', '3')).toEqual({
      args: ['a', 'b'],
      flags: { type: 'UKEY', tag: [], count: 3, dryRun: false, quiet: false, verbose: false },
    });
  });

  test('end at --, and a dash alone is an argument', async () => {
    expect((await parse('-', '--', '--type', '-q')).args).toEqual(['-', '--type', '-q']);
  });

  test('of one letter can be written together', async () => {
    expect((await parse('-qv', '-n3')).flags).toMatchObject({ quiet: true, verbose: true, count: 3 });
  });

  test('can be given several times where they take many values, else the last one counts', async () => {
    expect((await parse('--tag', 'a,b', '--tag=c', '--type', 'UKEY', '--type', 'SIMKEY')).flags).toMatchObject({
      tag: ['a', 'b', 'c'],
      type: 'SIMKEY',
    });
  });

  test('have aliases', async () => {
    expect((await parse('--simulate')).flags.dryRun).toBe(true);
  });

  test.each([
    [['--typ', 'UKEY'], 'there is no flag --typ'],
    [['--type'], '--type needs a value'],
    [['--type', '--quiet'], '--type needs a value'],
    [['--type', 'KEY'], '--type must be one of UKEY, SIMKEY'],
    [['--quiet=yes'], '--quiet takes no value'],
    [['--count', '0'], 'from 1 to 9'],
    [['--count', '1.5'], 'from 1 to 9'],
    [['--constructor'], 'there is no flag --constructor'],
    [['-x'], 'there is no flag -x'],
  ])('%j is refused', async (words, message) => {
    await expect(parse(...words)).rejects.toThrow(message);
  });
});

describe('a command', () => {
  const found = (...words: string[]) => {
    const result = findCommand(words);
    return result.kind === 'command' ? [result.entry.name, ...result.words] : result.kind;
  };

  test('is found behind and between flags, whose values are not taken for it', () => {
    expect(found('list', '--all')).toEqual(['list', '--all']);
    expect(found('--server', 'list', 'show', 'X')).toEqual(['show', '--server', 'list', 'X']);
    expect(found('--json', 'daemon', '--home', 'x', 'status')).toEqual(['daemon status', '--json', '--home', 'x']);
    expect(found('--type', 'UKEY', 'list')).toEqual(['list', '--type', 'UKEY']);
  });

  test('that does not exist is answered with the one that was probably meant', () => {
    expect(() => findCommand(['regsiter'])).toThrow('there is no command "regsiter"');
    expect(() => findCommand(['daemon', 'strat'])).toThrow('daemon strat');
    expect(nearest('regsiter', ['list', 'register'])).toBe('register');
    expect(nearest('lsit', ['login', 'list', 'lock'])).toBe('list');
    expect(nearest('xyzzy', ['list', 'register'])).toBeNull();
  });

  test('of no name is help, and so is help of a name', () => {
    expect(found()).toBe('help');
    expect(found('help', 'list')).toEqual(['list', '--help']);
    expect(found('help', 'daemon', 'run')).toEqual(['daemon run', '--help']);
    expect(found('daemon')).toBe('help');
    expect(found('--version')).toBe('version');
  });
});

describe.each(commands.map(entry => [entry.name, entry] as const))('devmgr %s', (name, entry) => {
  const load = (): Promise<AnyCommand> => entry.load();

  test('is the command it is listed as', async () => {
    const { name: own, summary } = await load();
    expect({ own, summary }).toEqual({ own: name, summary: entry.summary });
  });

  test('has flags that no other flag of it, or of every command, is spelt like', async () => {
    const { flags } = await load();
    const own = [
      ...Object.keys(flags).map(flag => `--${flag}`),
      ...Object.values(flags).flatMap(({ aliases = [], short }) => [
        ...aliases.map(alias => `--${alias}`),
        ...(short ? [`-${short}`] : []),
      ]),
    ];
    expect(new Set(own).size).toBe(own.length);
    const global = spellings(globalFlags);
    expect(own.filter(spelling => global.has(spelling))).toEqual([]);
  });

  test('has examples that it understands', async () => {
    const command = await load();
    expect(command.examples.length).toBeGreaterThan(0);
    for (const { line } of command.examples) {
      const words = shellWords(line);
      const result = findCommand(words);
      if (result.kind !== 'command') throw new Error(`${line} is no command`);
      expect(result.entry.name).toBe(name);
      const { args } = await parseWords(result.words, { ...globalFlags, ...command.flags }, '');
      checkArgs(command, args, '');
    }
  });

  test('has help that names each flag and argument, within the width', async () => {
    const command = await load();
    for (const columns of [60, 80, 200]) {
      const help = commandHelp(command, columns, plain);
      for (const flag of Object.keys(command.flags)) expect(help).toContain(`--${flag}`);
      for (const argument of command.args ?? []) expect(help).toContain(argument.name);
      const examples = help.indexOf('\nExamples\n');
      for (const line of help.slice(0, examples).split('\n')) expect(line.length).toBeLessThanOrEqual(columns);
    }
  });
});

/** The words of a line up to the first pipe, redirection or further command, quotes taken away. */
function shellWords(line: string): string[] {
  const own = /^(?:[^|>&"]|"[^"]*")*/.exec(line)![0];
  return [...own.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare!);
}
