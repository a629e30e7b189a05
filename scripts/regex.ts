/**
 * Finds every regular expression of the program and fails on those that can take more than linear time. Literals and
 * `RegExp(…)` are read from the syntax tree; each `pattern` of the contract is read from its modules. What is judged is the
 * expression, not the length of what it is applied to. `node scripts/regex.ts [ROOT]`.
 */
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parse } from '@babel/parser';
import { type CallExpression, type NewExpression, traverseFast } from '@babel/types';
import { check } from 'recheck';

/** The folder of the contract: its modules may compile a `pattern`, since each of them is judged. */
const contract = 'src/contract';
const sources = '{bin,src,daemon,drivers,console}/**/*.{ts,mts,cts,tsx}';

type Argument = CallExpression['arguments'][number] | undefined;

/** An expression and its location in the sources. */
export interface Expression {
  readonly file: string;
  /** Absent for a pattern of the contract, which is found by its value. */
  readonly line?: number;
  readonly pattern: string;
  readonly flags: string;
}

export interface Fault {
  readonly file: string;
  readonly line?: number | undefined;
  readonly message: string;
}

export interface Findings {
  readonly expressions: readonly Expression[];
  /** Expressions whose pattern only exists when the program runs: not to be judged, and so refused. */
  readonly faults: readonly Fault[];
}

/** The expressions of one source file. `file` is its path in the project, with `/`. */
export function expressionsIn(file: string, source: string): Findings {
  const expressions: Expression[] = [];
  const faults: Fault[] = [];
  const built = ({ callee, arguments: [pattern, flags], loc }: CallExpression | NewExpression) => {
    if (callee.type !== 'Identifier' || callee.name !== 'RegExp') return;
    const { line } = loc!.start;
    const [text, letters] = [textOf(pattern), flags === undefined ? '' : textOf(flags)];
    if (text !== null && letters !== null) expressions.push({ file, line, pattern: text, flags: letters });
    else if (!isPatternOfContract(file, pattern))
      faults.push({ file, line, message: 'the pattern is computed: write it as a literal, or search without one' });
  };
  const tree = parse(source, {
    sourceType: 'module',
    sourceFilename: file,
    plugins: file.endsWith('.tsx') ? ['typescript', 'jsx'] : ['typescript'],
  });
  traverseFast(tree, node => {
    if (node.type === 'RegExpLiteral')
      expressions.push({ file, line: node.loc!.start.line, pattern: node.pattern, flags: node.flags });
    if (node.type === 'NewExpression' || node.type === 'CallExpression') built(node);
  });
  return { expressions, faults };
}

/** The value of a text that is written down as a whole; null for any other expression. */
function textOf(node: Argument): string | null {
  if (node?.type === 'StringLiteral') return node.value;
  return node?.type === 'TemplateLiteral' && node.expressions.length === 0
    ? (node.quasis[0]!.value.cooked ?? null)
    : null;
}

function isPatternOfContract(file: string, node: Argument): boolean {
  return file.startsWith(`${contract}/`) && node?.type === 'Identifier' && node.name === 'pattern';
}

/** Each `pattern` that can be reached from what the modules of the contract export, once. */
async function contractPatterns(root: string): Promise<Expression[]> {
  const patterns = new Map<string, string>();
  const seen = new Set<unknown>();
  const collect = (file: string, value: unknown): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    for (const [name, inner] of Object.entries(value)) {
      if (name === 'pattern' && typeof inner === 'string') patterns.set(inner, patterns.get(inner) ?? file);
      else collect(file, inner);
    }
  };
  for (const file of globSync(`${contract}/**/*.ts`, { cwd: root }))
    collect(file, { ...(await import(pathToFileURL(join(root, file)).href)) });
  return [...patterns].map(([pattern, file]) => ({ file, pattern, flags: 'u' }));
}

/** Steps bound each stage of the search for an attack, and no stage reads a clock: a busy machine does not change a verdict. */
const search = {
  attackTimeout: null,
  incubationTimeout: null,
  maxRepeatCount: 100,
  seedingTimeout: null,
  timeout: null,
};

/** Why an expression may take more than linear time, with an attack where one is known; null where it cannot. */
export async function superlinear(pattern: string, flags: string): Promise<string | null> {
  const verdict = await check(pattern, flags, search);
  if (verdict.status === 'safe') return null;
  if (verdict.status === 'unknown') return `cannot be judged (${verdict.error.kind})`;
  return `takes ${verdict.complexity.summary} time: ${verdict.attack.pattern.slice(0, 200)}`;
}

/** Expressions known to be linear, as `/pattern/flags`: a search takes up to half a second, and few of them change. */
class Known {
  readonly #file: string;
  readonly #by: string;
  readonly #linear: Set<string>;

  /** Verdicts of another version or of other settings do not count. */
  constructor(folder: string) {
    const { version } = createRequire(import.meta.url)('recheck/package.json');
    this.#by = JSON.stringify({ version, ...search });
    this.#file = join(folder, 'regex.json');
    const { by, linear } = existsSync(this.#file) ? JSON.parse(readFileSync(this.#file, 'utf8')) : {};
    this.#linear = new Set(by === this.#by ? linear : []);
  }

  async superlinear(pattern: string, flags: string): Promise<string | null> {
    const name = `/${pattern}/${flags}`;
    if (this.#linear.has(name)) return null;
    const problem = await superlinear(pattern, flags);
    if (problem === null) this.#linear.add(name);
    return problem;
  }

  save(): void {
    mkdirSync(dirname(this.#file), { recursive: true });
    writeFileSync(this.#file, JSON.stringify({ by: this.#by, linear: [...this.#linear] }, null, 1));
  }
}

/** The faults of the project in the folder `root`. */
export async function faultsOf(root: string): Promise<Fault[]> {
  const files = globSync(sources, { cwd: root }).sort();
  if (files.length === 0) throw new Error(`${root} holds no source files: nothing was checked`);
  const found = files.map(file => expressionsIn(file.replaceAll('\\', '/'), readFileSync(join(root, file), 'utf8')));
  const patterns = existsSync(join(root, contract)) ? await contractPatterns(root) : [];
  const expressions = [...found.flatMap(one => one.expressions), ...patterns];
  const known = new Known(join(root, 'node_modules', '.cache'));
  const judged = await Promise.all(
    expressions.map(async ({ file, line, pattern, flags }): Promise<Fault[]> => {
      const problem = await known.superlinear(pattern, flags);
      return problem === null ? [] : [{ file, line, message: `/${pattern}/${flags} ${problem}` }];
    }),
  );
  known.save();
  return [...found.flatMap(one => one.faults), ...judged.flat()];
}

if (import.meta.main) {
  const faults = await faultsOf(process.argv[2] ?? dirname(import.meta.dirname));
  for (const { file, line, message } of faults) console.error(`${[file, line].filter(Boolean).join(':')} ${message}`);
  // The process that judges would otherwise be waited for.
  process.exit(faults.length > 0 ? 1 : 0);
}
