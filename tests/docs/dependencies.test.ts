import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packagesOf } from '../../scripts/import-boundaries.ts';
import { namedLicense } from '../../scripts/lib/licenses.mjs';

const root = join(import.meta.dirname, '../..');
const json = async (...path: string[]) => JSON.parse(await readFile(join(root, ...path), 'utf8'));
const page = await readFile(join(root, 'docs/dependencies.md'), 'utf8');
const rows = [...page.matchAll(/^\| ([@a-z][^ ]*) \|(.*)\|$/gm)]
  .map(([, name, rest]) => ({ name: name!, cells: rest!.split(' | ').map(cell => cell.trim()) }))
  .filter(({ name }) => name !== 'package');

describe('docs/dependencies.md', () => {
  it('names every direct dependency, and no other', () => {
    const named = rows.map(({ name }) => name).sort();
    expect(named).toEqual(Object.keys(packagesOf(root)).sort());
  });

  it.each(rows)(
    'gives a reason, the alternatives, the health and the true license of $name',
    async ({ name, cells }) => {
      const [why, left, license, health] = cells;
      expect([why, left, health].filter(cell => !cell)).toEqual([]);
      expect(license).toBe(namedLicense(await json('node_modules', name, 'package.json')));
    },
  );
});
