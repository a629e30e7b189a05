// Which room may import which: one table, each line with its reason. `node scripts/arrows.ts` reads every source file of
// the project and fails on the first arrow that points upwards. A path in the table ends with `/` where it is a folder.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, posix } from 'node:path';

/** Files in `from`, those in `except` left out, import nothing of `never` (but for `but`), or with `only` nothing else. */
export interface Rule {
  readonly from: readonly string[];
  readonly except?: readonly string[];
  readonly never?: readonly string[];
  readonly but?: readonly string[];
  readonly only?: readonly string[];
  /** The rule is about imports at the top of a file alone: `await import()` and types are free. */
  readonly atStart?: true;
  readonly because: string;
}

export interface Violation {
  readonly file: string;
  readonly line: number;
  readonly imports: string;
  readonly because: string;
}

const product = ['bin/', 'src/', 'daemon/', 'drivers/'];

/** `npm:` is any package, `npm:x` the package x, `node:` any built-in module, `node:x` the module x. */
export const rules: readonly Rule[] = [
  {
    from: product,
    never: ['tests/', 'bench/', 'scripts/', 'docs/'],
    because: 'the program is shipped without its tests and tools',
  },
  {
    from: ['src/', 'daemon/', 'drivers/'],
    never: ['bin/'],
    because: 'bin joins the program and nobody stands above it',
  },
  {
    from: ['src/'],
    never: ['daemon/', 'drivers/'],
    because: 'the command line knows the daemon by its HTTP interface alone; bin/ joins the two',
  },
  {
    from: ['daemon/'],
    never: ['src/'],
    but: ['src/api/'],
    because: 'of src the daemon knows the contract, src/api, alone',
  },
  {
    from: ['drivers/'],
    only: ['drivers/', 'npm:', 'node:'],
    because: 'drivers know nobody: they can be used without the daemon and the command line',
  },
  {
    from: ['src/api/'],
    only: ['src/api/', 'npm:typebox', 'npm:yaml'],
    because: 'the contract is tables and types: no I/O, and nothing of those who use it',
  },
  {
    from: ['src/client/'],
    never: ['src/main.ts', 'src/commands/', 'src/session/', 'src/settings/', 'src/terminal/'],
    because: 'arrows go commands → client → api; what the client has to show is handed back to the command',
  },
  {
    from: ['src/session/'],
    never: ['src/main.ts', 'src/commands/', 'src/terminal/'],
    because: 'a session finds the server and the token for the client; it shows nothing and asks nobody',
  },
  {
    from: ['src/terminal/'],
    never: ['src/main.ts', 'src/commands/', 'src/client/', 'src/session/', 'src/settings/'],
    because: 'the terminal shows what it is given and asks nobody',
  },
  {
    from: ['src/settings/'],
    never: ['src/main.ts', 'src/commands/', 'src/client/', 'src/session/'],
    because: 'settings are read before there is a client or a command',
  },
  {
    from: ['src/service/'],
    only: ['src/service/', 'src/api/', 'node:'],
    because: 'what a system wants to have written is made of facts it is handed: it is tried on any machine',
  },
  {
    from: ['src/commands/'],
    never: ['src/main.ts'],
    because: 'main runs the commands; a command that needs main would run itself',
  },
  {
    from: ['daemon/domain/'],
    only: ['daemon/domain/', 'daemon/store/store.ts', 'src/api/', 'node:crypto'],
    because: 'the domain decides and does no I/O: everything it judges is handed to it',
  },
  {
    from: ['daemon/store/'],
    never: ['daemon/main.ts', 'daemon/server.ts', 'daemon/services/', 'daemon/routes/', 'daemon/plugins/'],
    because: 'arrows go routes → services → store; the store keeps rows and decides nothing',
  },
  {
    from: ['daemon/services/', 'daemon/events/', 'daemon/files/', 'daemon/keys/'],
    never: ['daemon/main.ts', 'daemon/server.ts', 'daemon/routes/', 'daemon/plugins/', 'npm:fastify', 'node:http'],
    because: 'HTTP ends at the routes: services answer values and refuse with business codes',
  },
  {
    from: ['daemon/'],
    except: ['daemon/main.ts', 'daemon/programs/', 'daemon/store/sqlite/'],
    never: ['daemon/store/sqlite/'],
    // How a daemon holds its home against a second one; no rows of the registry.
    but: ['daemon/store/sqlite/hold.ts'],
    because: 'everybody stores through daemon/store/store.ts; main alone says which store it is',
  },
  {
    from: ['daemon/routes/', 'daemon/plugins/'],
    never: ['daemon/main.ts', 'drivers/', 'npm:better-sqlite3'],
    because: 'routes → services → domain → api: a route reads a request, asks a service and writes the answer',
  },
  {
    from: ['daemon/'],
    except: ['daemon/main.ts', 'daemon/programs/'],
    never: ['daemon/main.ts', 'daemon/programs/'],
    because: 'main is the composition root: it joins the parts, and no part reaches for the whole',
  },
  {
    from: ['daemon/'],
    except: ['daemon/main.ts'],
    never: ['drivers/hid/', 'drivers/pcsc/', 'drivers/simulated/', 'drivers/ukey/', 'drivers/simkey/'],
    because: 'the daemon knows what a driver is (drivers/driver.ts); main alone says which ones there are',
  },
  {
    from: ['drivers/ukey/', 'drivers/simkey/'],
    never: ['drivers/hid/', 'drivers/pcsc/', 'drivers/simulated/', 'node:fs', 'node:child_process', 'node:net'],
    because: 'a protocol speaks over the connection it is given, and is tried on bytes without any hardware',
  },
  {
    from: product,
    except: ['daemon/store/sqlite/'],
    never: ['npm:better-sqlite3'],
    because: 'daemon/store/sqlite alone knows SQLite: another store must be able to take its place',
  },
  {
    from: product,
    except: ['drivers/hid/'],
    never: ['npm:node-hid', 'npm:usb'],
    because: 'drivers/hid alone loads the native USB modules, and survives their absence',
  },
  {
    from: product,
    except: ['drivers/pcsc/'],
    never: ['npm:pcsc-mini'],
    because: 'drivers/pcsc alone loads the native PC/SC module, and survives its absence',
  },
  {
    from: product,
    except: ['src/settings/'],
    never: ['npm:@napi-rs/keyring'],
    because: 'src/settings alone knows where tokens are kept, and does without a keychain where there is none',
  },
  {
    from: product,
    except: ['daemon/main.ts', 'daemon/server.ts', 'daemon/routes/', 'daemon/plugins/'],
    never: ['npm:fastify'],
    because: 'Fastify is known where HTTP is: in the server, its plugins and its routes',
  },
  {
    from: product,
    never: ['npm:node-hid', 'npm:usb', 'npm:pcsc-mini', 'npm:@napi-rs/keyring'],
    atStart: true,
    because: 'a native module is loaded when it is needed: where it is missing, the rest must run',
  },
];

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
  return (places ?? []).some(place => target === place || (/[/:]$/.test(place) && target.startsWith(place)));
}

function breaks(rule: Rule, file: string, target: string, kind: Import['kind']): boolean {
  if (!covers(rule.from, file) || covers(rule.except, file) || (rule.atStart && kind !== 'start')) return false;
  return rule.only ? !covers(rule.only, target) : covers(rule.never, target) && !covers(rule.but, target);
}

/** What is wrong with one source file. `file` is its path in the project, with `/`; `packages` those of package.json. */
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
function sourceFiles(root: string): string[] {
  return [...product, 'tests/', 'bench/', 'scripts/'].flatMap(folder =>
    existsSync(join(root, folder)) ? sourcesIn(root, folder) : [],
  );
}

function sourcesIn(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap(entry => {
    const path = `${folder}${entry.name}`;
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : sourcesIn(root, `${path}/`);
    return /\.m?ts$/.test(entry.name) ? [path] : [];
  });
}

/** What is wrong with the project that lies in the folder `root`. */
export function violations(root: string): Violation[] {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const packages = new Set(Object.keys({ ...dependencies, ...devDependencies }));
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
