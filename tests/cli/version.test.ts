/** The version, and the Node that the program needs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { checkNode, isNodeSupported, leastNode } from '../../src/cli/framework/version.ts';
import { devmgr } from './program.ts';

const versionIn = (folder: string) =>
  (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version;

test('--version starts with one line for scripts, and --quiet writes only the number', async () => {
  const shown = await devmgr(['--version']);
  expect(shown).toMatchObject({ code: 0, stderr: '' });
  expect(shown.stdout.split('\n')[0]).toBe(`devmgr ${versionIn('.')}`);
  expect((await devmgr(['version'])).stdout).toBe(shown.stdout);
  expect((await devmgr(['--version', '--quiet'])).stdout).toBe(`${versionIn('.')}\n`);
});

test('--version names build, Node, SQLite and the native packages that are installed', async () => {
  const { json } = await devmgr(['--version', '--json']);
  expect(json).toMatchObject({ name: 'devmgr', form: 'package', node: process.versions.node, arch: process.arch });
  expect(json.build.commit ?? 'no clone').toMatch(/^([0-9a-f]{12}|no clone)$/);
  for (const [name, found] of Object.entries(json.packages)) expect(found).toBe(versionIn(`node_modules/${name}`));
  expect(Object.keys(json.packages).sort()).toEqual(
    Object.keys(JSON.parse(readFileSync('package.json', 'utf8')).dependencies).sort(),
  );
  expect(json.sqlite).toBe(new Database(':memory:').prepare('SELECT sqlite_version()').pluck().get());
  const { stdout } = await devmgr(['--version']);
  for (const part of [json.node, json.sqlite, ...Object.values(json.packages)]) expect(stdout).toContain(part);
});

test('--version needs no home', async () => {
  const { code, stdout } = await devmgr(['--version'], { env: { HOME: undefined, DEVMGR_HOME: '/dev/null/none' } });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^devmgr \d/);
});

test('version --licenses writes the licenses of all packages in the program', async () => {
  const { code, stdout } = await devmgr(['version', '--licenses']);
  expect(code).toBe(0);
  expect(stdout).toBe(readFileSync('dist/licenses.txt', 'utf8'));
  expect(stdout).toMatch(/^fastify \d[^\n]*\(MIT\)$/m);
});

describe('Node', () => {
  test.each(['20.20.2', '22.18.9', '18.0.0'])('%s is rejected, with its version in the error', version => {
    expect(() => checkNode(version)).toThrow(`Node ${version} is too old`);
  });

  test.each(['22.19.0', '23.0.0', '26.10.0', '100.1.0'])('%s is supported', version => {
    expect(isNodeSupported(version)).toBe(true);
    expect(() => checkNode(version)).not.toThrow();
  });

  test('that is too old is named by each command but doctor and version', async () => {
    const old = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })`;
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(old)}` };
    const { code, stdout, stderr } = await devmgr(['list'], { env });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^devmgr: Node 20\.20\.2 is too old\n {2}→ install Node 22\.19 or later/);
    expect(await devmgr(['version', '--quiet'], { env })).toMatchObject({ code: 0, stderr: '' });
    expect((await devmgr(['doctor', '--json'], { env })).stdout).toContain('20.20.2');
  });

  test('is required in the version that package.json names', () => {
    const { engines } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(engines.node).toBe(`>=${leastNode}.0`);
  });
});
