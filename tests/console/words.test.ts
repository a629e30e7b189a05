/** The words of the console: the type checker compares the languages, and these tests compare the words with the pages. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const read = (pattern: string): string =>
  globSync(pattern, { cwd: root, exclude: ['console/text/{en,de}.ts'] })
    .map(file => readFileSync(join(root, file), 'utf8'))
    .join('\n');
/** The pages, and the sets of names that some words are for. */
const sources = read('console/**/*.{ts,tsx}');
const named = [
  sources,
  read(
    'src/contract/{values,key-values,person-values,device-filters,device-description,event-types,administration-events,provider-fields,trust,people-policy}.ts',
  ),
  read('src/{enrollment,fleet,tables}/**/*.ts'),
]
  .join('\n')
  // One text may have many names.
  .replaceAll(/namesIn\(\s*'([^']*)'/g, (_, names: string) => `['${names.replaceAll(' ', "','")}'`);
const isNamed = (entry: string): boolean => new RegExp(`[.'{,[(|]\\s*${entry}\\b`).test(named);

const dictionariesIn = async (language: string): Promise<Record<string, object>> => ({
  ...(await import(join(root, 'console', 'text', `${language}.ts`))),
});

/** Names of all entries of a dictionary, also of those inside others. */
const entriesOf = (words: object): string[] =>
  Object.entries(words).flatMap(([name, value]) => [name, ...(typeof value === 'object' ? entriesOf(value) : [])]);

test('each language has the same dictionaries with the same entries', async () => {
  const [english, german] = [await dictionariesIn('en'), await dictionariesIn('de')];
  const shapeOf = (all: Record<string, object>) => Object.entries(all).map(([name, words]) => [name, entriesOf(words)]);
  expect(shapeOf(german)).toEqual(shapeOf(english));
});

/** Names of the dictionaries that some module imports. */
const imported = [...sources.matchAll(/^import \{([^}]*)\} from '[./]+text\/words\.ts';$/gm)].flatMap(
  ([, names = '']) => names.match(/\w+/g) ?? [],
);

test('a page uses each dictionary and each of its entries', async () => {
  const unused = Object.entries(await dictionariesIn('en')).flatMap(([dictionary, words]) =>
    imported.includes(dictionary === 'common' ? 'text' : dictionary)
      ? entriesOf(words)
          .filter(entry => !isNamed(entry))
          .map(entry => `${dictionary}: ${entry}`)
      : [dictionary],
  );
  expect(unused).toEqual([]);
});

test.each(['en', 'de'])('writes counts, distances in time, days and hours as Intl does: %s', async lang => {
  vi.stubGlobal('document', { documentElement: { lang } });
  const { grouped } = await import(join(root, 'console', 'text', 'numbers.ts'));
  const { common } = await import(join(root, 'console', 'text', `${lang}.ts`));
  for (const count of [0, 7, 999, 1000, 1001, 25_000, 999_999, 1_000_000, 1_020_003, -5000, 1234.5])
    expect(grouped(count)).toBe(new Intl.NumberFormat(lang).format(count));
  const distances = new Intl.RelativeTimeFormat(lang);
  for (const unit of ['year', 'month', 'day', 'hour', 'minute'] as const)
    for (const count of [-2000, -59, -2, -1, 1, 2, 59, 2000])
      expect(common.common.distance(count, unit)).toBe(distances.format(count, unit));
  const now = new Intl.RelativeTimeFormat(lang, { numeric: 'auto' }).format(0, 'second');
  expect(common.common.distance(0, 'minute')).toBe(now);
  expect(common.common.distance(-0, 'minute')).toBe(now);
  const days = new Intl.DateTimeFormat(lang, { dateStyle: 'medium' });
  const hours = new Intl.DateTimeFormat(lang, { weekday: 'short', hour: '2-digit', minute: '2-digit' });
  for (let i = 0; i < 365; i++) {
    const time = new Date(2026, 0, 1 + i, i % 24, i % 60);
    expect(common.common.day(time.toISOString())).toBe(days.format(time));
    expect(common.common.hour(time.toISOString())).toBe(hours.format(time));
  }
  vi.unstubAllGlobals();
});

test('no dictionary chooses between the words of one and of several on its own', () => {
  for (const language of ['en', 'de'])
    expect(readFileSync(join(root, 'console', 'text', `${language}.ts`), 'utf8')).not.toMatch(/=== 1\b/);
});
