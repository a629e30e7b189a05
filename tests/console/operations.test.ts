/** Every operation of the interface is in the console, or in the table of docs/console.md with the reason why it is not. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { endpoints, type RouteName } from '../../src/contract/endpoints.ts';
import { routes } from '../../src/contract/routes.ts';

const root = join(import.meta.dirname, '..', '..');
const names = Object.keys(routes) as RouteName[];
const lineOf = (name: RouteName): string => `${endpoints[name].method} ${endpoints[name].path}`;

// The requests of the station page are those of the command line.
const files = ['console/**/*.{ts,tsx}', 'src/enrollment/*.ts'];
const sources = globSync(files, { cwd: root, exclude: ['console/text/*'] })
  .map(file => readFileSync(join(root, file), 'utf8'))
  .join('\n');
/** The console names an operation where it calls it, or in the data of a form: as a text, or as an entry of `endpoints`. */
const isCalled = (name: RouteName): boolean => new RegExp(`'${name}'(?! in )|\\bendpoints\\.${name}\\b`).test(sources);

const page = readFileSync(join(root, 'docs', 'console.md'), 'utf8');
const section = page.slice(page.indexOf('## What the console leaves out')).split('\n## ')[0]!;
/** Operation and reason. */
const listed = [...section.matchAll(/^\| `([^`]+)` \|(.*)\|$/gm)].map(([, line, reason]) => [line!, reason!.trim()]);

test('each operation is called by the console or left out by docs/console.md', () => {
  const left = names.filter(name => !isCalled(name)).map(lineOf);
  expect(listed.map(([line]) => line).toSorted()).toEqual(left.toSorted());
});

test('docs/console.md has a reason for each operation that is left out', () => {
  expect(listed.filter(([, reason]) => !reason)).toEqual([]);
});
