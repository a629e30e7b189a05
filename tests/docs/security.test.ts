import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const page = await readFile(join(root, 'docs/security.md'), 'utf8');
const section = page.slice(page.indexOf('## Promises'), page.indexOf('## How it works'));
/** Promise and what holds it; headings within the table hold nothing. */
const promises = [...section.matchAll(/^\| (?!\*\*|promise)([^|]+) \| ([^|]*) \|(?:[^|]+\|)?$/gm)].map(
  ([, promise, held]) => ({
    promise: promise!,
    held: held!,
  }),
);

describe('docs/security.md', () => {
  it('promises something', () => {
    expect(promises.length).toBeGreaterThan(20);
  });

  it.each(promises)('names what holds: $promise', async ({ held }) => {
    const names = [...held.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
    const scripts = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')).scripts;
    const missing = names.filter(name =>
      name.startsWith('npm run ')
        ? !(name.slice(8).split(' ')[0]! in scripts)
        : name.includes('.') && !existsSync(join(root, name)),
    );
    expect(names).not.toEqual([]);
    expect(missing).toEqual([]);
  });
});
