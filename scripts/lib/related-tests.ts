/** Which test files a change concerns, the closest first. */
import { basename, dirname, posix } from 'node:path';
import { importsOf } from '../import-boundaries.ts';

/** For each source file, the project's files that it loads. */
export type Imports = ReadonlyMap<string, readonly string[]>;

const isTest = (file: string): boolean => file.endsWith('.test.ts');

/** Reads what each of `files` (paths in the project) loads, at its start or later. Imports of types alone do not run. */
export function importsOfAll(files: readonly string[], read: (file: string) => string): Imports {
  const known = new Set(files);
  return new Map(
    files.map(file => {
      const loaded = importsOf(read(file)).filter(({ name, kind }) => name.startsWith('.') && kind !== 'types');
      return [file, loaded.map(({ name }) => posix.join(posix.dirname(file), name)).filter(path => known.has(path))];
    }),
  );
}

/** The number of imports from each file to the nearest of `changed`; files that load none of them are absent. */
function distances(changed: readonly string[], imports: Imports): Map<string, number> {
  const importers = new Map<string, string[]>();
  for (const [file, loaded] of imports)
    for (const path of loaded) importers.set(path, [...(importers.get(path) ?? []), file]);
  const found = new Map(changed.map(file => [file, 0]));
  // The loop also visits what it adds to the Map: the files in the order of their distance.
  for (const [file, distance] of found)
    for (const importer of importers.get(file) ?? []) if (!found.has(importer)) found.set(importer, distance + 1);
  return found;
}

/** The words in the name of a file; for a source file those of its folder too. A plural and its singular are one word. */
function wordsOf(file: string): ReadonlySet<string> {
  const name = basename(file).replace(/\..*$/, '');
  const names = isTest(file) ? [name] : [name, basename(dirname(file))];
  return new Set(names.flatMap(text => text.toLowerCase().split(/[^a-z0-9]+/)).map(word => word.replace(/s$/, '')));
}

/** How close a test is to a change if they have a word in common but no import: most tests of commands run the built program. */
const distanceByName = 4;

/** Whether a test is in the folder for `docs`, `packaging` or `console`, whose files tests read or build and do not import. */
const isInFolderFor = (test: string, changed: string): boolean => test.startsWith(`tests/${changed.split('/', 1)[0]}/`);

/**
 * The test files that load a changed file, those whose name shares a word with it, and those in the folder for it. Changed tests come
 * first; then the distance decides: the number of imports, less the number of common words.
 */
export function relatedTests(changed: readonly string[], imports: Imports): readonly string[] {
  const byImports = distances(changed, imports);
  const words = changed.map(wordsOf);
  const ranks = new Map<string, number>();
  for (const test of [...imports.keys()].filter(isTest)) {
    const own = [...wordsOf(test)];
    const common = Math.max(0, ...words.map(each => own.filter(word => each.has(word)).length));
    const isNear = common > 0 || changed.some(file => isInFolderFor(test, file));
    const distance = byImports.get(test) ?? (isNear ? distanceByName : null);
    if (distance !== null) ranks.set(test, distance === 0 ? Number.NEGATIVE_INFINITY : distance - common);
  }
  return [...ranks].sort(([a, x], [b, y]) => (x === y ? (a < b ? -1 : 1) : x - y)).map(([test]) => test);
}

/** The first of `tests` that together take at most `budgetMs`, at least one; `lasts` is the duration of a file in milliseconds. */
export function withinBudget(
  tests: readonly string[],
  lasts: (test: string) => number,
  budgetMs: number,
): readonly string[] {
  let sum = 0;
  return tests.filter((test, index) => {
    sum += lasts(test);
    return index === 0 || sum <= budgetMs;
  });
}
