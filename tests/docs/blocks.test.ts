import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { needs } from '../support/needs.ts';
import { callsIn } from './lines.ts';
import { pagesOf } from './pages.ts';
import { blocksOf, Shell } from './shell.ts';

const root = join(import.meta.dirname, '../..');

interface Runnable {
  readonly page: string;
  readonly blocks: readonly { line: number; code: string }[];
}

/** The pages whose `sh` blocks are run, one after the other, in a home of their own for each page. */
const runnable: Runnable[] = [];
for (const page of pagesOf(root)) {
  const blocks = blocksOf(await readFile(join(root, page), 'utf8'), 'sh');
  if (blocks.length > 0) runnable.push({ page, blocks });
}

it('finds command blocks in the README', () => {
  expect(runnable.map(({ page }) => page)).toContain('README.md');
});

describe.each(runnable)('$page', ({ blocks }) => {
  needs(toolsOf(blocks))('its commands have the output that the page shows', () => whatItSays(blocks));
});

/** The programs of the machine that the blocks call and that not every machine has. */
function toolsOf(blocks: Runnable['blocks']): string[] {
  const called = new Set(blocks.flatMap(({ code }) => callsIn(code)).map(([program]) => program!));
  return ['curl', 'jq', 'openssl'].filter(tool => called.has(tool));
}

function whatItSays(blocks: Runnable['blocks']): void {
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
}
