import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pagesOf } from './pages.ts';

const root = join(import.meta.dirname, '../..');
const pages = pagesOf(root);
const proseOf = (page: string) => readFileSync(join(root, page), 'utf8').replace(/^```[\s\S]*?^```/gm, '');

interface Link {
  /** Path in the project; that of the page itself where the link names a heading alone. */
  readonly file: string;
  readonly heading: string | null;
}

/** The links and images of a page, without those into the web. */
function linksOf(page: string): Link[] {
  return [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target!)
    .filter(target => !/^[a-z]+:/.test(target))
    .map(target => {
      const [file, heading] = target.split('#') as [string, string?];
      return { file: file === '' ? page : join(dirname(page), file), heading: heading ?? null };
    });
}

/** The names of a page's headings in links, as they are made where Markdown is shown. */
function headingsOf(page: string): string[] {
  return [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, text]) =>
    text!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** Rows that no table has, because a line between them ends it, and fences of code that Markdown reads as indented text. */
function brokenBlocks(page: string): string[] {
  const lines = readFileSync(join(root, page), 'utf8').split('\n');
  const isFence = (line: string) => /^ *```/.test(line);
  return lines.filter((line, i) => {
    if (isFence(line)) return line.startsWith('    ');
    const isInCode = lines.slice(0, i).filter(isFence).length % 2 === 1;
    const isFirstRow = /^ *\|/.test(line) && !/^ *\|/.test(lines[i - 1] ?? '');
    return isFirstRow && !isInCode && !/^ *\| *:?-/.test(lines[i + 1] ?? '');
  });
}

describe.each(pages)('%s', page => {
  it('has whole tables and blocks', () => {
    expect(brokenBlocks(page)).toEqual([]);
  });

  it('links to files that exist', () => {
    expect(linksOf(page).filter(({ file }) => !existsSync(join(root, file)))).toEqual([]);
  });

  it('links to headings that exist', () => {
    const wanted = linksOf(page).filter(({ file, heading }) => heading !== null && file.endsWith('.md'));
    expect(wanted.filter(({ file, heading }) => !headingsOf(file).includes(heading!))).toEqual([]);
  });
});

it('finds the pages, and links on them', () => {
  expect(pages).toContain('docs/architecture.md');
  expect(pages.flatMap(linksOf).length).toBeGreaterThan(5);
  expect(pages.flatMap(linksOf).some(({ heading }) => heading !== null)).toBe(true);
});

it('every page of the documentation is linked from another', () => {
  const linked = new Set(
    pages.flatMap(page => linksOf(page).filter(({ file }) => file !== page)).map(({ file }) => file),
  );
  const folders = [...linked].filter(file => !file.endsWith('.md'));
  const isLinked = (page: string) =>
    linked.has(page) || folders.some(folder => page.startsWith(`${folder.replace(/\/$/, '')}/`));
  expect(pages.filter(page => page !== 'README.md' && !isLinked(page))).toEqual([]);
});
