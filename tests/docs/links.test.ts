import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pagesOf } from './pages.ts';

const root = join(import.meta.dirname, '../..');
const pages = pagesOf(root);

/** Targets of the links of a page, without those into the web and with the headings left out. */
function linksOf(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8').replace(/^```[\s\S]*?^```/gm, '');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target!.replace(/#.*$/, ''))
    .filter(target => target !== '' && !/^[a-z]+:/.test(target));
}

describe.each(pages)('%s', page => {
  it('links to files that exist', () => {
    expect(linksOf(page).filter(target => !existsSync(join(root, dirname(page), target)))).toEqual([]);
  });
});

it('finds the pages, and links on them', () => {
  expect(pages).toContain('docs/architecture.md');
  expect(pages.flatMap(linksOf).length).toBeGreaterThan(5);
});
