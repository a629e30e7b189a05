import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { natives } from '../../scripts/build.mjs';
import { importsOf, packagesOf } from '../../scripts/import-boundaries.ts';

const root = join(import.meta.dirname, '../..');
const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

function filesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap(entry => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesIn(path);
    return /\.(m?[jt]s|tsx)$/.test(entry.name) ? [path] : [];
  });
}

/** Used without an import: run by a script or a test, types, or a file that the build copies. */
const runAsPrograms =
  /^(@types\/.*|@fontsource-variable\/.*|dejavu-fonts-ttf|@biomejs\/biome|@redocly\/cli|node|typescript|vitest|swagger-ui-dist)$/;

it('names no package that nothing uses', () => {
  const named = ['bin', 'src', 'daemon', 'drivers', 'console', 'tests', 'benchmarks', 'scripts']
    .flatMap(filesIn)
    .flatMap(file => importsOf(readFileSync(join(root, file), 'utf8')))
    .map(({ name }) => name);
  const isUsed = (name: string) => named.some(used => used === name || used.startsWith(`${name}/`));
  const unused = Object.keys(packagesOf(root)).filter(name => !isUsed(name));
  expect(unused.filter(name => !runAsPrograms.test(name))).toEqual([]);
});

it('has npm start install every package that the program imports', () => {
  const onlyChecks = JSON.parse(readFileSync(join(root, 'tests/package.json'), 'utf8')).devDependencies;
  const build = [
    'scripts/start.mjs',
    'scripts/build.mjs',
    ...filesIn('scripts/lib').filter(file => file.endsWith('.mjs')),
  ];
  const imported = [...['bin', 'src', 'daemon', 'drivers', 'console'].flatMap(filesIn), ...build]
    .flatMap(file => importsOf(readFileSync(join(root, file), 'utf8')))
    .filter(({ kind }) => kind !== 'types')
    .map(({ name }) => name);
  const missing = Object.keys(onlyChecks).filter(name => imported.some(used => `${used}/`.startsWith(`${name}/`)));
  expect(missing).toEqual([]);
});

it('has those who install the program download native packages alone: the others are built into it', () => {
  expect(Object.keys(dependencies).sort()).toEqual([...natives].sort());
});
