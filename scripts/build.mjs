#!/usr/bin/env node
// Makes the program: dist/devmgr.cjs and its parts, in CommonJS for Node 22.19 and later. Node parses a file whole before
// it runs the first line (17 ms per megabyte), so what a command may not need (the daemon, every package behind an
// `await import()`) is a file of its own that is read when it is reached. Does nothing where no source has changed.
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { definitions, identity, natives } from './lib/identity.mjs';
import { noticesOf } from './lib/licences.mjs';
import { fail, modules, root, say } from './lib/project.mjs';

export { natives };

const dist = join(root, 'dist');
const record = join(dist, '.build.json');

/** What esbuild names as an input and is none. */
const notFiles = /^(whole:|empty:|<define:)/;

/** Files that change the program without being part of it. */
const alsoInputs = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'scripts/build.mjs',
  'scripts/lib/identity.mjs',
  'scripts/lib/licences.mjs',
];

/** Builds; resolves to false where the program was already made of these sources. */
export async function build() {
  if (isFresh()) return false;
  const started = Date.now();
  const { build: esbuild } = await import('esbuild');
  const parts = new Parts();
  const built = [await esbuild(optionsFor([{ in: 'bin/devmgr.ts', out: 'devmgr' }], parts))];
  // All that are known by now in one go: files that several of them hold are read once.
  for (let known = parts.take(); known.length; known = parts.take()) {
    const entries = known.map(({ name, target }) => ({ in: `whole:${target}`, out: name }));
    built.push(await esbuild(optionsFor(entries, parts)));
  }
  publish(built.flatMap(result => result.outputFiles));
  copySwaggerUi();
  const inputs = [...new Set(built.flatMap(({ metafile }) => Object.keys(metafile.inputs)))];
  const carried = new Set(inputs.map(packageOf).filter(name => name !== null));
  const packages = [...carried, 'node_modules/swagger-ui-dist'].sort();
  writeFileSync(join(dist, '.packages.json'), `${JSON.stringify(packages)}\n`);
  // Their licences want it: whoever gets the code gets the notice.
  writeFileSync(join(dist, 'licences.txt'), noticesOf(packages.map(path => join(root, path))));
  const sources = [...alsoInputs, ...inputs.filter(name => packageOf(name) === null && !notFiles.test(name))];
  writeFileSync(record, `${JSON.stringify({ identity: identity(), sources: digests(sources) }, null, 1)}\n`);
  say(`built dist/devmgr.cjs (${Date.now() - started} ms)`);
  return true;
}

/** The folder of the package that a file belongs to, as the lock file names it; null for a file of the project. */
function packageOf(file) {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? null;
}

/** The files that are split off, found while the others are built. */
class Parts {
  #waiting = [];
  #targets = new Map();

  /** The name of the part that holds a package or a file of the project. */
  nameOf(target) {
    const name = (target.startsWith('/') ? relative(root, target).replace(/\.ts$/, '') : target)
      .replace(/^@/, '')
      .replaceAll('/', '-');
    if (!this.#targets.has(name)) this.#waiting.push({ name, target });
    if ((this.#targets.get(name) ?? target) !== target) throw new Error(`two parts would be named ${name}.cjs`);
    this.#targets.set(name, target);
    return name;
  }

  take() {
    return this.#waiting.splice(0);
  }
}

function optionsFor(entryPoints, parts) {
  return {
    entryPoints,
    absWorkingDir: root,
    outdir: dist,
    outExtension: { '.js': '.cjs' },
    write: false,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node22.19',
    external: natives,
    plugins: [splitting(parts)],
    // White space costs time at every start; names serve whoever reads a stack trace.
    minifyWhitespace: true,
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
    define: { 'import.meta.url': 'importMetaUrl', ...definitions() },
    banner: { js: `const importMetaUrl=require('node:url').pathToFileURL(__filename).href;` },
  };
}

/** Turns `import('package')`, and any import of the daemon by the command line, into reading a part. */
function splitting(parts) {
  const dynamicImport = /(?<!typeof\s)\bimport\(\s*'([^']+)'\s*\)/g;
  return {
    name: 'parts',
    setup(build) {
      build.onResolve({ filter: /^whole:/ }, ({ path }) => ({ path: path.slice(6), namespace: 'whole' }));
      build.onLoad({ filter: /./, namespace: 'whole' }, ({ path }) => ({
        contents: `import * as all from ${JSON.stringify(path)}; export { all };`,
        resolveDir: root,
      }));
      build.onResolve({ filter: /^part:/ }, ({ path }) => ({ path: `./${path.slice(5)}.cjs`, external: true }));
      build.onResolve({ filter: /^typebox$|\.mjs$/ }, async ({ path, importer, kind, resolveDir, pluginData }) => {
        if (pluginData === 'again' || (path !== 'typebox' && !importer.includes('node_modules/typebox/'))) return;
        const found = await build.resolve(path, { kind, importer, resolveDir, pluginData: 'again' });
        return { ...found, sideEffects: false };
      });
      // commander takes 2 ms for what only commands that are programs of their own need; there are none here.
      build.onResolve({ filter: /^node:child_process$/ }, ({ importer }) =>
        importer.includes('node_modules/commander/') ? { path: 'empty', namespace: 'empty' } : undefined,
      );
      build.onLoad({ filter: /./, namespace: 'empty' }, () => ({ contents: 'export default {};', loader: 'js' }));
      build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const place = relative(root, path);
        if (place.startsWith('node_modules')) return undefined;
        const contents = withCarriedAssets(withNamespace(readFileSync(path, 'utf8')), place).replace(
          dynamicImport,
          (whole, wanted) => {
            const target = partTarget(wanted, path);
            return target
              ? `Promise.resolve().then(() => require(${JSON.stringify(`part:${parts.nameOf(target)}`)}).all)`
              : whole;
          },
        );
        return { contents, loader: 'ts' };
      });
    },
  };
}

/** `{ Type }` of typebox is an object that keeps all of the package; as a namespace it keeps what is used (a seventh). */
function withNamespace(source) {
  return source.replace(/^import \{([^}]*\bType\b[^}]*)\} from 'typebox';/m, (whole, list) => {
    const names = list.split(',').map(name => name.trim());
    const others = names.filter(name => name !== '' && name !== 'Type');
    if (!names.includes('Type')) return whole;
    return `import * as Type from 'typebox'; import { ${others.join(', ')} } from 'typebox';`;
  });
}

const swaggerFiles = [
  'swagger-ui-bundle.js',
  'swagger-ui.css',
  'favicon-32x32.png',
  'favicon-16x16.png',
  'package.json',
];

/** The four files of Swagger UI that are served lie in dist/swagger-ui: nobody needs the package for them. */
function copySwaggerUi() {
  const folder = join(dist, 'swagger-ui');
  mkdirSync(folder, { recursive: true });
  for (const name of swaggerFiles) copyFileSync(join(modules, 'swagger-ui-dist', name), join(folder, name));
}

function withCarriedAssets(source, place) {
  if (place !== join('daemon', 'http', 'routes', 'swagger-assets.ts')) return source;
  const asked = "createRequire(import.meta.url).resolve('swagger-ui-dist/package.json')";
  if (!source.includes(asked)) throw new Error(`${place} looks for Swagger UI in another way than this build expects`);
  return source.replace(asked, "join(__dirname, 'swagger-ui', 'package.json')");
}

/** Rooms that are heavy to load: the daemon, and the contract with its schemas. */
const wholeRooms = ['daemon/', 'src/contract/'];

/** Each command it names is a part: nobody runs two. */
const commandTable = 'src/cli/commands/index.ts';

/** What becomes a part: a package that is not native, and a file of a heavy room as seen from outside it. Else null. */
function partTarget(wanted, importer) {
  if (wanted.startsWith('node:') || natives.some(name => wanted === name || wanted.startsWith(`${name}/`))) return null;
  if (!wanted.startsWith('.')) return wanted;
  const target = join(dirname(importer), wanted);
  const isIn = (room, file) => relative(root, file).startsWith(room);
  if (wholeRooms.some(room => isIn(room, target) && !isIn(room, importer))) return target;
  return relative(root, importer) === commandTable ? target : null;
}

/** Puts the new files in place, the program last, and removes parts that are no longer any. */
function publish(files) {
  mkdirSync(dist, { recursive: true });
  const names = files.map(file => basename(file.path));
  for (const file of files.reverse()) {
    const temporary = `${file.path}.${process.pid}`;
    writeFileSync(temporary, file.contents);
    chmodSync(temporary, 0o755);
    renameSync(temporary, file.path);
  }
  for (const name of readdirSync(dist)) {
    if (name.endsWith('.cjs') && !names.includes(name)) rmSync(join(dist, name));
  }
}

function isFresh() {
  try {
    readFileSync(join(dist, 'devmgr.cjs'));
    const known = JSON.parse(readFileSync(record, 'utf8'));
    // What is given away names its own commit; here at home the same sources under a later commit are good enough.
    const isGivenAway = process.env.npm_lifecycle_event === 'prepack';
    const now = { identity: isGivenAway ? identity() : known.identity, sources: digests(Object.keys(known.sources)) };
    return JSON.stringify(now) === JSON.stringify(known);
  } catch {
    return false;
  }
}

/** Digest of each file. An import that becomes new stands in a file that changed, so the files of the last build suffice. */
function digests(files) {
  const digest = file =>
    createHash('sha256')
      .update(readFileSync(join(root, file)))
      .digest('hex');
  return Object.fromEntries(files.map(file => [file, digest(file)]));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    await build();
  } catch (error) {
    fail(
      `the build failed: ${error.message.split('\n', 1)[0]}`,
      'Mend the lines named above, then run the same command again.',
    );
  }
}
