// The sources as CommonJS files: devmgr.cjs, which starts, parts/main.cjs with what every command needs, and parts that are loaded when
// they are reached.
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { definitions } from './identity.mjs';
import { root } from './project.mjs';

/**
 * The folder of the package that a file belongs to, as the lock file names it; null for a file of the project. `file` is a
 * path in the project.
 */
export function packageOf(file) {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? null;
}

/**
 * Bundles bin/start.ts and, as parts/main.cjs, bin/devmgr.ts. `external` are the packages that stay outside, `absent` those that
 * the result runs without. Resolves to the files of the result and to `inputs`, the paths in the project of all modules that were
 * read, packages included.
 */
export async function bundle({ external, absent, plugins = [] }) {
  const { rolldown } = await import('rolldown');
  const build = await rolldown({
    cwd: root,
    input: { devmgr: 'bin/start.ts', main: 'bin/devmgr.ts' },
    platform: 'node',
    tsconfig: false,
    external: name => external.some(outside => name === outside || name.startsWith(`${outside}/`)),
    transform: { target: 'node22.19', define: definitions(absent) },
    // No other program imports this one: the entry may share its modules with the parts.
    preserveEntrySignatures: false,
    plugins: [commanderAlone, fastifyAlone, objectStoreModules, oneByteFiles, pcscWorker, ...plugins],
    // By default a package that is not installed becomes an external one.
    onLog: (level, log, report) => report(log.code === 'UNRESOLVED_IMPORT' ? 'error' : level, log),
  });
  try {
    const { output: files } = await build.generate({
      format: 'cjs',
      strict: true,
      // External packages are loaded with require() as well: after a failure it tries again, and import() does not.
      dynamicImportInCjs: false,
      externalLiveBindings: false,
      // Exports keep their names, so that a running daemon can load a part of a later build.
      minifyInternalExports: false,
      // White space takes time at every start. Names are kept: stack traces show them.
      minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
      comments: false,
      entryFileNames: ({ name }) => (name === 'main' ? 'parts/main.cjs' : `${name}.cjs`),
      chunkFileNames: part => `parts/${partName(part)}.cjs`,
      // Each import() begins a part, and modules that several parts share are in parts of their own: no module is in two files.
      codeSplitting: {
        groups: [
          { name: 'main', tags: ['$initial'], test: /^(?!.*\/(start|compiled-code)\.ts$)/ },
          { name: 'common', test: ofMostCommands },
        ],
      },
    });
    return { files, inputs: (await build.watchFiles).map(inProject).filter(file => !file.includes('\0')) };
  } finally {
    await build.close();
  }
}

/** The name of the package, or the path in the project of the module that is imported; of a shared part its last module. */
function partName({ facadeModuleId, moduleIds, name }) {
  const id = facadeModuleId ?? moduleIds.at(-1);
  if (id === undefined || id.startsWith('\0')) return name;
  const file = inProject(id);
  const inPackage = packageOf(file)?.replace(/^.*node_modules\/@?/, '');
  return (inPackage ?? `${facadeModuleId ? '' : 'shared-'}${file.replace(/\.ts$/, '')}`).replaceAll('/', '-');
}

/** The path of a file in the project, with `/` on every system. */
export function inProject(file) {
  return relative(root, file).replaceAll('\\', '/');
}

/** Small modules that most commands load: a file of its own for each takes half a millisecond at every start. */
const ofMostCommands =
  /\/src\/(contract\/(values|limits|instant|tags)|cli\/(define|present-list)|cli\/commands\/devices\/(all-devices|export-stream|filter|tags))\.ts$/;

/** commander loads node:child_process (2 ms) for commands that are separate programs; devmgr has none. */
const commanderAlone = {
  name: 'commander-alone',
  resolveId: {
    filter: { id: /^node:child_process$/ },
    handler: (_, importer) => (packageOf(inProject(importer)) === 'node_modules/commander' ? '\0empty' : undefined),
  },
  load: { filter: { id: /^\0empty$/ }, handler: () => 'export default {};' },
};

/** Packages that Fastify loads for schemas of routes and for requests without a socket; the daemon has neither: 300 kB of its code. */
const ofFastify = ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'light-my-request'];
const fastifyAlone = {
  name: 'fastify-alone',
  resolveId: {
    filter: { id: new RegExp(`^(${ofFastify.join('|')})$`) },
    handler: (_, importer) => (packageOf(inProject(importer)) === 'node_modules/fastify' ? '\0empty' : undefined),
  },
};

/**
 * Packages of the object store's client as ES modules, of which the build takes what is used. The CommonJS form of the client alone has
 * all commands of S3 and each way to sign in: 700 kB more code, and 3 MiB more memory of a daemon.
 */
const objectStoreModules = {
  name: 'object-store-modules',
  resolveId: {
    filter: { id: /^@(aws-sdk|smithy)\/[^/]+$/ },
    async handler(id, importer, options) {
      const found = await this.resolve(id, importer, { ...options, skipSelf: true });
      const folder = found?.id.match(/^.*[\\/]node_modules[\\/]@[^\\/]+[\\/][^\\/]+/)?.[0];
      if (folder === undefined) return undefined;
      const { exports, module } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
      return exports === undefined && module !== undefined ? join(folder, module) : undefined;
    },
  },
};

/** Files without characters above 127, see `oneByte`. */
const oneByteFiles = {
  name: 'one-byte-files',
  generateBundle(_, files) {
    for (const file of Object.values(files)) if (file.type === 'chunk') file.code = oneByte(file.code);
  },
};

/**
 * Code without characters above 127. One character above 255 makes V8 hold a file with two bytes a character: 1.6 MB more for
 * the daemon. A file with so many that their escapes would be longer than that stays as it is.
 */
function oneByte(code) {
  if (/\bString\.raw`[^`]*[^\0-\x7f]/.test(code)) throw new Error('String.raw would show the escape of a character');
  // Of a character above 65535, both halves: in strings and in regular expressions, with the flag u as well, they are that character.
  const escaped = code.replace(/[^\0-\x7f]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return escaped.length < 2 * code.length ? escaped : code;
}

// The thread for PC/SC in the build: its code is a text in the program, so that it also runs where the program is one file.

const ffiFolder = join(root, 'drivers', 'pcsc', 'ffi');

/** Replaces drivers/pcsc/ffi/start-worker.ts. */
const pcscWorker = {
  name: 'pcsc-worker',
  load: {
    filter: { id: /[\\/]drivers[\\/]pcsc[\\/]ffi[\\/]start-worker\.ts$/ },
    async handler() {
      return {
        code: `import { Worker } from 'node:worker_threads';
const options = { eval: true, execArgv: ['--disable-warning=ExperimentalWarning'] };
export const startWorker = () => new Worker(${JSON.stringify(await codeOfWorker())}, options);`,
        moduleType: 'js',
      };
    },
  },
};

async function codeOfWorker() {
  const { rolldown } = await import('rolldown');
  const build = await rolldown({ cwd: root, input: join(ffiFolder, 'worker.ts'), platform: 'node', tsconfig: false });
  try {
    const { output } = await build.generate({ format: 'cjs', strict: true, comments: false });
    return output[0].code;
  } finally {
    await build.close();
  }
}
