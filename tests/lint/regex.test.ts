import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { expressionsIn, superlinear } from '../../scripts/regex.ts';

const script = join(import.meta.dirname, '../../scripts/regex.ts');

describe('an expression', () => {
  // The first two have held the daemon for seconds: a trimmed text, and the header Range.
  it.each([
    ['^[^\\S\\uFEFF]+|[^\\S\\uFEFF]+$', 'g'],
    ['^bytes=\\s*(\\d*)\\s*-\\s*(\\d*)\\s*$', 'i'],
    ['\\d*$', ''],
    ['^(a+)+$', ''],
    ['(?<![\\w/.-])(?=[\\w+=-]*\\d)[\\w+=-]{32,}', 'g'],
  ])('/%s/%s is refused: it can take more than linear time', async (pattern, flags) => {
    expect(await superlinear(pattern, flags)).toMatch(/^takes .*(polynomial|exponential)/);
  });

  it.each([
    ['^\\d+$', ''],
    ['^[0-9a-f]{64}$', ''],
    ['(?<![\\w.-])[\\w.-]+@\\w+', 'g'],
  ])('/%s/%s is accepted', async (pattern, flags) => {
    expect(await superlinear(pattern, flags)).toBeNull();
  });

  // The first is judged by its automaton, the others by a search for an attack.
  it.each([
    ['^(a+)+$', '', 'exponential'],
    ['(?<![\\w/.-])(?=[\\w+=-]*\\d)[\\w+=-]{32,}', 'g', 'polynomial'],
    ['(?<![\\w.-])[\\w.-]+@\\w+', 'g', null],
  ])('/%s/%s is judged by steps: no clock is read', async (pattern, flags, problem) => {
    const program = `
      let reads = 0;
      const now = performance.now.bind(performance);
      performance.now = () => { reads++; return now(); };
      const { superlinear } = await import(process.argv[1]);
      console.log(JSON.stringify({ found: await superlinear(process.argv[2], process.argv[3]), reads }));`;
    // Without this, another program judges, with a clock of its own.
    const env = { ...process.env, RECHECK_BACKEND: 'pure' };
    const args = ['--input-type=module', '-e', program, '--', pathToFileURL(script).href, pattern, flags];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env });
    expect(JSON.parse(stdout)).toEqual({ found: problem && expect.stringContaining(problem), reads: 0 });
  });

  it('is refused if it cannot be judged', async () => {
    expect(await superlinear('(', '')).toMatch(/^cannot be judged/);
  });
});

describe('the expressions of a source', () => {
  const found = (source: string) => expressionsIn('src/a.ts', source);

  it('are its literals and its calls of RegExp, each with its line', () => {
    const source = "const a: RegExp = /a\\/b/gi;\nconst b = 4 / 2 / 1;\nnew RegExp('c+', 'u');\nRegExp(`d`);\n";
    expect(found(source)).toEqual({
      expressions: [
        { file: 'src/a.ts', line: 1, pattern: 'a\\/b', flags: 'gi' },
        { file: 'src/a.ts', line: 3, pattern: 'c+', flags: 'u' },
        { file: 'src/a.ts', line: 4, pattern: 'd', flags: '' },
      ],
      faults: [],
    });
  });

  it.each([
    "new RegExp('a' + b)",
    'RegExp(a)',
    "new RegExp('a', flags)",
    `new RegExp(\`\${a}\`)`,
    'new RegExp(pattern)',
  ])('may not be computed: %s', source => {
    expect(found(source)).toMatchObject({ expressions: [], faults: [{ file: 'src/a.ts', line: 1 }] });
  });

  it('may be compiled from a pattern inside the contract, where each pattern is judged', () => {
    expect(expressionsIn('src/contract/a.ts', 'new RegExp(pattern)')).toEqual({ expressions: [], faults: [] });
  });
});

describe('the check as npm run lint runs it', () => {
  const folders: string[] = [];
  afterAll(() => Promise.all(folders.map(folder => rm(folder, { recursive: true, force: true }))));

  async function check(files: Readonly<Record<string, string>>): Promise<{ code: number; stderr: string }> {
    const root = await mkdtemp(join(tmpdir(), 'devmgr-regex-'));
    folders.push(root);
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(root, name)), { recursive: true });
      await writeFile(join(root, name), text);
    }
    return promisify(execFile)(process.execPath, [script, root]).then(
      ({ stderr }) => ({ code: 0, stderr }),
      ({ code, stderr }) => ({ code, stderr }),
    );
  }

  it('names file and line of an expression that is not linear, with an attack', async () => {
    const { code, stderr } = await check({ 'daemon/ranges.ts': '\nexport const end = /\\s+$/;\n' });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('daemon/ranges.ts:2 /\\s+$/ takes 2nd'),
    });
  });

  it('judges a pattern of the contract that is computed from parts', async () => {
    const source =
      "const part = 'a*';\nexport const fields = { name: { type: 'string', pattern: [part, part].join('b') + '$' } };\n";
    const { code, stderr } = await check({ 'src/contract/fields.ts': source });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('src/contract/fields.ts /a*ba*$/u takes'),
    });
  });

  it('passes a program whose expressions are linear, and fails if it finds no expression', async () => {
    expect(await check({ 'bin/a.ts': 'export const a = /^a+$/;\n' })).toEqual({ code: 0, stderr: '' });
    expect((await check({})).code).toBe(1);
  });
});
