import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const tools = join(root, 'tests/linters/node_modules');
const built = join(root, 'dist/client');

/** What a linter writes; it fails if it finds something. */
async function outputOf(program: string, ...options: readonly string[]): Promise<string> {
  return (await promisify(execFile)(process.execPath, [join(tools, program), ...options])).stdout;
}

const missing = !existsSync(join(tools, 'publint')) && !process.env.CI;

it.skipIf(missing)(
  'publint finds nothing in the client package (needs: node tests/tools/setup.mjs linters)',
  async () => {
    expect(await outputOf('publint/src/cli.js', built, '--strict')).toContain('All good!');
  },
  60_000,
);

it.skipIf(missing)(
  'attw finds no wrong types in the client package, for programs of ES modules',
  async () => {
    const options = ['--pack', built, '--profile', 'esm-only', '--format', 'json'];
    const { analysis } = JSON.parse(await outputOf('@arethetypeswrong/cli/dist/index.js', ...options));
    // A program in CommonJS loads ES modules with require() since Node 22.12.
    const ignored = ['CJSResolvesToESM'];
    expect(analysis.types.kind).toBe('included');
    expect(analysis.problems.filter(({ kind }: { kind: string }) => !ignored.includes(kind))).toEqual([]);
  },
  60_000,
);
