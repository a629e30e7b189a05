/** The words of the console: the type checker compares the languages, and these tests compare the words with the pages. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const read = (pattern: string): string =>
  globSync(pattern, { cwd: root, exclude: ['console/text/{en,de}.ts'] })
    .map(file => readFileSync(join(root, file), 'utf8'))
    .join('\n');
/** The pages, and the sets of names that some words are for. */
const sources = read('console/**/*.{ts,tsx}');
const named = [
  sources,
  read('src/contract/{values,device-filters,device-description,trust}.ts'),
  read('src/{enrollment,fleet}/**/*.ts'),
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
