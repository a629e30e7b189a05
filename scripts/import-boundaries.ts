// `node scripts/import-boundaries.ts` reads every source file of the project and fails on each import that breaks a rule of
// scripts/lib/import-rules.ts.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, posix } from 'node:path';
import { product, type Rule, rules } from './lib/import-rules.ts';

export interface Violation {
  readonly file: string;
  readonly line: number;
  readonly imports: string;
  readonly because: string;
}

interface Import {
  readonly name: string;
  readonly line: number;
  readonly kind: 'start' | 'types' | 'later';
}

const commentsOrStrings = /('(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;
const statements =
  /(?<=^[ \t]*|[;}][ \t]*)(?:import|export)\s+(type\s+)?(?:[\w$*\s{},]+?\s*\bfrom\s*)?(['"])([^'"\n]+)\2/gm;
const calls =
  /(\btypeof\s+)?(?:\b(?:import|require|getBuiltinModule)|\bcreateRequire\s*\([^;]*?\))(?:\.resolve)?\s*\(\s*(['"`])([^'"`$\n]+)\2/g;
const computed = /\bimport\s*\(\s*(?!['"`\s])|\bimport\s*\(\s*`[^`]*\$/g;

/** Every module that a source names: to be loaded at its start, later, or for its types alone. */
export function importsOf(source: string): Import[] {
  const code = withoutComments(source);
  const found = (pattern: RegExp, kind: 'start' | 'later'): Import[] =>
    [...code.matchAll(pattern)].map(match => ({
      name: match[3] ?? '',
      line: lineOf(code, match.index),
      kind: match[1] === undefined ? kind : 'types',
    }));
  return [...found(statements, 'start'), ...found(calls, 'later')];
}

function withoutComments(source: string): string {
  return source.replace(commentsOrStrings, (found, text) => text ?? found.replace(/[^\n]/g, ' '));
}

function lineOf(code: string, index: number): number {
  return code.slice(0, index).split('\n').length;
}

const builtin = new Set(builtinModules);

/** How the table names what `file` imports: a path of the project, `npm:package` or `node:module`. */
function nameInTable(file: string, wanted: string): string {
  if (wanted.startsWith('.')) return posix.join(posix.dirname(file), wanted);
  if (wanted.startsWith('node:')) return wanted;
  if (builtin.has(wanted)) return `node:${wanted}`;
  return `npm:${wanted
    .split('/')
    .slice(0, wanted.startsWith('@') ? 2 : 1)
    .join('/')}`;
}

function covers(places: readonly string[] | undefined, target: string): boolean {
  return (places ?? []).some(place =>
    place.includes('*')
      ? anyName(place).test(target)
      : target === place || (/[/:]$/.test(place) && target.startsWith(place)),
  );
}

/** A path in which `*` stands for one name. Paths contain no other character with a meaning in a pattern than dots. */
function anyName(place: string): RegExp {
  const pattern = place.replaceAll('.', '\\.').replaceAll('*', '[^/]+');
  return new RegExp(`^${pattern}${place.endsWith('/') ? '' : '$'}`);
}

function breaks(rule: Rule, file: string, target: string, kind: Import['kind']): boolean {
  if (!covers(rule.from, file) || covers(rule.except, file) || (rule.atStart && kind !== 'start')) return false;
  return rule.only ? !covers(rule.only, target) : covers(rule.never, target) && !covers(rule.but, target);
}

/** The faults of one source file. `file` is its path in the project, with `/`; `packages` those of package.json. */
export function violationsIn(file: string, source: string, packages?: ReadonlySet<string>): Violation[] {
  const found: Violation[] = [];
  for (const { name, line, kind } of importsOf(source)) {
    const target = nameInTable(file, name);
    for (const rule of rules) {
      if (breaks(rule, file, target, kind)) found.push({ file, line, imports: name, because: rule.because });
    }
    if (packages && target.startsWith('npm:') && !packages.has(target.slice(4)))
      found.push({ file, line, imports: name, because: 'package.json does not name this package' });
  }
  if (!covers(product, file)) return found;
  const code = withoutComments(source);
  for (const match of code.matchAll(computed))
    found.push({
      file,
      line: lineOf(code, match.index),
      imports: 'a computed name',
      because: 'neither this check nor the build can follow an import whose name is not written down',
    });
  return found;
}

/** The source files of a project, as paths in it. */
export function sourceFiles(root: string): string[] {
  return [...product, 'tests/', 'benchmarks/', 'scripts/'].flatMap(folder =>
    existsSync(join(root, folder)) ? sourcesIn(root, folder) : [],
  );
}

function sourcesIn(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap(entry => {
    const path = `${folder}${entry.name}`;
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : sourcesIn(root, `${path}/`);
    return /\.(?:m?ts|tsx)$/.test(entry.name) ? [path] : [];
  });
}

/** Name and range of each package that the project names: the program's, and those that only the checks use. */
export function packagesOf(root: string): Record<string, string> {
  const manifests = ['package.json', 'tests/package.json'].map(file => join(root, file)).filter(existsSync);
  const named = manifests.map(file => JSON.parse(readFileSync(file, 'utf8')));
  return Object.assign({}, ...named.flatMap(({ dependencies, devDependencies }) => [dependencies, devDependencies]));
}

/** The faults of the project in the folder `root`. */
export function violations(root: string): Violation[] {
  const packages = new Set(Object.keys(packagesOf(root)));
  const files = sourceFiles(root);
  if (files.length === 0) throw new Error(`${root} holds no source files: nothing was checked`);
  return files.flatMap(file => violationsIn(file, readFileSync(join(root, file), 'utf8'), packages));
}

if (import.meta.main) {
  const found = violations(process.argv[2] ?? dirname(import.meta.dirname));
  for (const { file, line, imports, because } of found)
    console.error(`${file}:${line} must not import ${imports}\n  ${because}`);
  process.exitCode = found.length > 0 ? 1 : 0;
}
