import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pagesOf } from './pages.ts';
import { blocksOf, Shell } from './shell.ts';

const root = join(import.meta.dirname, '../..');

/** The pages whose `sh` blocks are run, one after the other, in a home of their own for each page. */
const runnable: { page: string; blocks: readonly { line: number; code: string }[] }[] = [];
for (const page of pagesOf(root)) {
  const blocks = blocksOf(await readFile(join(root, page), 'utf8'), 'sh');
  if (blocks.length > 0) runnable.push({ page, blocks });
}

it('finds command blocks in the README', () => {
  expect(runnable.map(({ page }) => page)).toContain('README.md');
});

describe.each(runnable)('the commands of $page do what the page says', ({ blocks }) => {
  let folder: string;
  let shell: Shell;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'devmgr-docs-'));
    shell = await Shell.open(folder, join(root, 'dist/devmgr.cjs'));
  });
  afterAll(async () => {
    await shell.end();
    await rm(folder, { recursive: true, force: true });
  });

  it.each(blocks)('line $line', async ({ code }) => {
    const { status, output } = await shell.run(code);
    expect(status, `${code}\n${output}`).toBe(0);
  });
});
