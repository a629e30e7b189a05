/** What the pages have people type is understood by the program. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findCommand } from '../../src/cli/find.ts';
import { globalFlags } from '../../src/cli/globals.ts';
import { checkArgs, parseWords, spellings } from '../../src/cli/parse.ts';
import { type Call, callsIn, callsOf, inlineCodeOf, typedIn } from './lines.ts';
import { pagesOf } from './pages.ts';

const root = join(import.meta.dirname, '../..');
const scripts = Object.keys(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts);
const pages = pagesOf(root).map(page => ({ page, text: readFileSync(join(root, page), 'utf8') }));

/** Why the program would not take the words; null where it would. */
async function refusalOf(words: Call, inline: boolean): Promise<string | null> {
  try {
    const found = findCommand(words);
    if (found.kind !== 'command') return null;
    const command = await found.entry.load();
    const shapes = { ...globalFlags, ...command.flags };
    // A sentence may name a flag without its value.
    const lacks = inline && spellings(shapes).get(words.at(-1) ?? '')?.shape.value !== undefined;
    const { args, flags } = await parseWords(lacks ? found.words.slice(0, -1) : found.words, shapes, '');
    if (!inline && !flags.help) checkArgs(command, args, '');
    return null;
  } catch (error) {
    return `devmgr ${words.join(' ')}: ${(error as Error).message}`;
  }
}

const isDevmgr = ([program]: Call) => program === 'devmgr' || program === './devmgr';
/** `devmgr …` stands for any of its commands. */
const isOpen = (call: Call) => call.some(word => /^(…|COMMAND)$/.test(word));

describe.each(pages)('$page', ({ text }) => {
  const calls = callsOf(text);

  it('has no line of devmgr that the program would not take', async () => {
    const written = calls.filter(({ call }) => isDevmgr(call) && !isOpen(call));
    const refusals = await Promise.all(written.map(({ call, inline }) => refusalOf(call.slice(1), inline)));
    expect(refusals.filter(refusal => refusal !== null)).toEqual([]);
  });

  it('names npm scripts that there are', () => {
    const named = calls.flatMap(({ call: [program, verb, name] }) =>
      program !== 'npm' ? [] : verb === 'run' ? [name] : verb === 'start' || verb === 'test' ? [verb] : [],
    );
    expect(named.filter(name => !scripts.includes(name!))).toEqual([]);
  });
});

// What was decided and what was tried may name what is no longer there.
describe.each(pages.filter(({ page }) => !page.startsWith('docs/decisions/')))('$page', ({ text }) => {
  it('names files of the project that there are', () => {
    const named = inlineCodeOf(text).filter(code =>
      /^(?:bench|bin|daemon|docs|drivers|packaging|scripts|src|tests)\/[\w./-]*$/.test(code),
    );
    expect(named.filter(path => !existsSync(join(root, path)))).toEqual([]);
  });
});

it('finds calls on the pages', () => {
  const found = pages.flatMap(({ text }) => callsOf(text)).filter(({ call }) => isDevmgr(call));
  expect(found.length).toBeGreaterThan(100);
});

describe('a flag, a command and an argument that do not exist', () => {
  it.each([['list', '--tpye', 'UKEY'], ['lits'], ['users', 'remove', 'x'], ['show', 'DEV-1', 'DEV-2']])(
    'are found out: %s %s %s',
    async (...words) => {
      expect(await refusalOf(words, false)).not.toBeNull();
    },
  );
});

describe('reading shell', () => {
  it.each<[string, string[][]]>([
    [
      'devmgr list | jq .x; devmgr show A',
      [
        ['devmgr', 'list'],
        ['jq', '.x'],
        ['devmgr', 'show', 'A'],
      ],
    ],
    [
      'code=$(devmgr show DEV-1 --json | sed "s/x/y/")',
      [
        ['devmgr', 'show', 'DEV-1', '--json'],
        ['sed', 's/x/y/'],
      ],
    ],
    ['if devmgr lock "a b" >out 2>&1; then', [['devmgr', 'lock', 'a b']]],
    ['A=1 devmgr list \\\n  --all # a remark', [['devmgr', 'list', '--all']]],
    [
      'test "$(devmgr list --quiet)" = \'\'',
      [
        ['devmgr', 'list', '--quiet'],
        ['test', '$(…)', '=', ''],
      ],
    ],
  ])('%s', (code, calls) => {
    expect(callsIn(code)).toEqual(calls);
  });

  it('takes from a session what stands after a prompt', () => {
    expect(typedIn('$ devmgr list \\\n    --all\nDEVICE\n# a remark\n$ ls')).toBe('devmgr list \\\n    --all\nls');
  });
});
