/** The program accepts every command line on the pages. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandTable } from '../../src/cli/commands/index.ts';
import { variables } from '../../src/cli/framework/environment.ts';
import { createProgram } from '../../src/cli/framework/program.ts';
import { type Call, callsIn, callsOf, inlineCodeOf, typedIn } from './lines.ts';
import { pagesOf } from './pages.ts';

const root = join(import.meta.dirname, '../..');
const scripts = Object.keys(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts);
/** `DEVMGR_RUN_OPTIONS` is of the units, the others of the tests. */
const known = new Set([
  ...variables.map(({ name }) => name),
  ...['DEVMGR_RUN_OPTIONS', 'DEVMGR_TEST_POSTGRES', 'DEVMGR_TEST_STORE', 'DEVMGR_DEBIAN_SUITE', 'DEVMGR_REHEARSE'],
]);
const pages = pagesOf(root).map(page => ({ page, text: readFileSync(join(root, page), 'utf8') }));

/** Why the program would reject the words; null if it accepts them. A sentence may name a command without its arguments. */
async function refusalOf(words: Call, inline: boolean): Promise<string | null> {
  let help = '';
  const write = (text: string) => {
    help += text;
  };
  const program = createProgram({
    table: commandTable,
    endings: [],
    columns: 80,
    paint: (_, text) => text,
    write,
    say: write,
    act: () => Promise.resolve(),
  });
  try {
    const sorted = program.namesFirst(words);
    // A command may have others below it.
    const node = program.leaves.findLast(leaf => `${sorted.join(' ')} `.startsWith(`${leaf.path} `));
    if (!inline || !node) await program.run(words);
    else {
      await node.load();
      const last = node.flags.find(flag => flag.matches(words.at(-1) ?? ''));
      const rest = sorted.slice(node.path.split(' ').length, last?.required ? -1 : undefined);
      const [unknown] = node.parseOptions(rest).unknown;
      if (unknown !== undefined) throw new Error(`unknown option ${unknown}`);
    }
    return null;
  } catch (error) {
    return help === '' ? `devmgr ${words.join(' ')}: ${(error as Error).message}` : null;
  }
}

const isDevmgr = ([program]: Call) => program === 'devmgr' || program === './devmgr';
/** `devmgr …` stands for any of its commands. */
const isOpen = (call: Call) => call.some(word => /^(…|COMMAND)$/.test(word));

describe.each(pages)('$page', ({ text }) => {
  const calls = callsOf(text);

  it('contains only command lines that the program accepts', async () => {
    const written = calls.filter(({ call }) => isDevmgr(call) && !isOpen(call));
    const refusals = await Promise.all(written.map(({ call, inline }) => refusalOf(call.slice(1), inline)));
    expect(refusals.filter(refusal => refusal !== null)).toEqual([]);
  });

  it('names only npm scripts that exist', () => {
    const named = calls.flatMap(({ call: [program, verb, name] }) =>
      program !== 'npm' ? [] : verb === 'run' ? [name] : verb === 'start' || verb === 'test' ? [verb] : [],
    );
    expect(named.filter(name => !scripts.includes(name!))).toEqual([]);
  });
});

// Decisions may name files that no longer exist.
describe.each(pages.filter(({ page }) => !page.startsWith('docs/decisions/')))('$page', ({ text }) => {
  it('names only files that exist', () => {
    const named = inlineCodeOf(text).filter(code =>
      /^(?:benchmarks|bin|daemon|docs|drivers|packaging|scripts|src|tests)\/[\w./-]*$/.test(code),
    );
    expect(named.filter(path => !existsSync(join(root, path)))).toEqual([]);
  });

  it('names only variables that the program, its unit or its tests read', () => {
    const named = [...text.matchAll(/\bDEVMGR_[A-Z_]*[A-Z]\b/g)].map(([name]) => name);
    expect(named.filter(name => !known.has(name))).toEqual([]);
  });

  it('names only examples that the Debian package has', () => {
    const named = [...text.matchAll(/\/usr\/share\/doc\/devmgr\/examples\/([\w./-]+\w)/g)].map(([, path]) => path!);
    expect(named.filter(path => !existsSync(join(root, 'packaging', path)))).toEqual([]);
  });
});

it('contains command lines', () => {
  const found = pages.flatMap(({ text }) => callsOf(text)).filter(({ call }) => isDevmgr(call));
  expect(found.length).toBeGreaterThan(100);
});

describe('an unknown flag, command or argument', () => {
  it.each([['list', '--tpye', 'UKEY'], ['lits'], ['users', 'delete', 'x'], ['show', 'DEV-1', 'DEV-2']])(
    'is found: %s %s %s',
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

  it('reads the lines after a prompt of a session', () => {
    expect(typedIn('$ devmgr list \\\n    --all\nDEVICE\n# a remark\n$ ls')).toBe('devmgr list \\\n    --all\nls');
  });
});
