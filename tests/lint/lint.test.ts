import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const checks = pathToFileURL(join(import.meta.dirname, '../../scripts/lib/checks.mjs')).href;

it('runs and reports each check, also after one that fails', async () => {
  const part = (name: string, code: number) => {
    const program = `console.log('found by ${name}'); process.exitCode = ${code}`;
    return [name, [process.execPath, '-e', program]];
  };
  const parts = JSON.stringify([part('first', 1), part('second', 0), part('third', 2)]);
  const program = `import { runChecks } from '${checks}';
    console.log('failed:', (await runChecks(${parts}, { env: process.env, width: 1 })).join());`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
  expect(stdout.split('\n').filter(Boolean)).toEqual([
    '── first',
    'found by first',
    'first: FAILED (exit code 1)',
    '── second',
    'found by second',
    'second: good',
    '── third',
    'found by third',
    'third: FAILED (exit code 2)',
    'failed: first,third',
  ]);
});
