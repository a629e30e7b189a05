// The console as the files that a browser loads: one module with what all or most pages need, modules that are loaded when they are
// reached, and a style sheet.
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { inProject } from './bundle.mjs';
import { root } from './project.mjs';

/** Files of the console that are not modules. */
const plain = ['console/index.html', 'console/console.css', 'console/tsconfig.json'];

/** Preact, and of the console and the contract what all or most pages use. */
const ofMostPages =
  /\/node_modules\/@?preact\/(?!compat)|\/console\/(?:[^/]+|pages\/account\/menu|pages\/people\/states|api\/(?!keys|upload|batch-run|export)[^/]+|text\/(?:text|numbers)|parts\/(?:problem|badge|status|lazy|button|dialog|field|icon|kept-focus|menu|toast|steps|table|records|loaded|time|details|device-columns|item|pager|inputs|search|list-page|sort|events|figures))\.tsx?$|\/src\/contract\/(?:endpoints|values|limits|operation-states)\.ts$/;

/** Small dictionaries that Activity and the overview need together, for changes of settings. */
const ofAdministration = /\/console\/text\/\w+\.ts\?(?:tokens|trust|webhooks)$/;

/** Of the table of operations, what a request needs: method and path of those that the console and its requests name. */
const operationsOfConsole = {
  name: 'operations-of-console',
  transform: {
    filter: { id: /\/src\/contract\/endpoints\.ts$/ },
    async handler() {
      const { endpoints } = await import('../../src/contract/endpoints.ts');
      const files = globSync(['console/**/*.{ts,tsx}', 'src/enrollment/*.ts'], { cwd: root });
      const sources = files.map(file => readFileSync(join(root, file), 'utf8'));
      const words = new Set(sources.join(' ').match(/\w+/g));
      const named = Object.entries(endpoints)
        .filter(([name]) => words.has(name))
        .map(([name, { method, path }]) => `${name}: ${method}(${JSON.stringify(path.slice(1))})`);
      // Calls are shorter than objects: the table is in every page.
      const made = ['GET', 'POST', 'PUT'].map(
        method => `${method} = path => ({ method: '${method}', path: '/' + path })`,
      );
      return { code: `const ${made.join(', ')};\nexport const endpoints = { ${named.join(', ')} };`, moduleType: 'js' };
    },
  },
};

/** Of the table of events of administration, what the console needs: titles, and the fields of the data. */
const eventsOfConsole = {
  name: 'events-of-console',
  transform: {
    filter: { id: /\/src\/contract\/administration-events\.ts$/ },
    async handler() {
      const { administrationEventTable } = await import('../../src/contract/administration-events.ts');
      const rows = Object.entries(administrationEventTable).map(([type, { data, words, title = words }]) => [
        type,
        { data, title },
      ]);
      return {
        code: `export const administrationEventTable = ${JSON.stringify(Object.fromEntries(rows))};
          export const administrationEventTypes = Object.keys(administrationEventTable);`,
        moduleType: 'js',
      };
    },
  },
};

/** Fields of the descriptions of filters, devices and events that only documents, the store and the command line need. */
const forOthers = /\b(?:(?:description|example|field|is|label|style): '[^']*'|moving: true|spellings: \[[^\]]*\]),?/g;

/** Of these descriptions, what the console needs. */
const descriptionsOfConsole = {
  name: 'descriptions-of-console',
  transform: {
    filter: { id: /\/src\/contract\/(?:device-(?:filters|description)|event-types)\.ts$/ },
    handler: code => ({ code: code.replace(forOthers, '') }),
  },
};

/** Business codes as numbers: a bundler keeps the whole table for one name of it. */
const codesOfConsole = {
  name: 'codes-of-console',
  transform: {
    filter: { id: /\/(?:console|src\/enrollment)\/.*\.tsx?(?:\?\w+)?$/, code: /\bCode\./ },
    async handler(code) {
      const { Code } = await import('../../src/contract/codes.ts');
      return { code: code.replace(/\bCode\.(\w+)/g, (_, name) => String(Code[name])) };
    },
  },
};

const text = join(root, 'console/text');

/** The languages of the console, each with modules of its own. */
const { consoleLanguages } = await import('../../src/contract/values.ts');

/**
 * The words of each dictionary as a module of its own, so that a page loads its own alone, in its language: `de.ts?users` is de.ts
 * without its other exports.
 */
const wordsByPage = language => ({
  name: 'words-by-page',
  resolveId: { filter: { id: /^\w+\.ts\?\w+$/ }, handler: id => join(text, id) },
  load: {
    filter: { id: /\.ts\?\w+$/ },
    handler(id) {
      const [file, name] = id.split('?');
      this.addWatchFile(file);
      const others = new RegExp(`^export const (?!${name}\\b)[^]*?^};$`, 'gm');
      return { code: readFileSync(file, 'utf8').replace(others, ''), moduleType: 'ts' };
    },
  },
  transform: {
    filter: { id: /\/console\/.*\.tsx?$/, code: /\/words\.ts'/ },
    handler: code => ({
      code: code.replace(importOfWords, (_, names) => names.split(',').map(importIn(language)).join('')),
    }),
  },
});

const importOfWords = /^import \{([^}]*)\} from '[^']*\/words\.ts';/gm;

/** `tokens as words` as an import of the dictionary `tokens` in a language. The words that every page needs are named `text`. */
const importIn = language => named => {
  const [name, alias = name] = named.trim().split(' as ');
  if (name === '') return '';
  const dictionary = name === 'text' ? 'common' : name;
  return `import { ${dictionary} as ${alias} } from '${language}.ts?${dictionary}';`;
};

/**
 * The modules, each dynamic import with those that the imported one needs: a browser would know of them only after it has read the
 * module, and each step costs a round trip.
 */
function loadedTogether(output) {
  const chunks = new Map(output.map(chunk => [chunk.fileName, chunk]));
  const needed = (name, found = new Set()) => {
    if (found.has(name)) return found;
    found.add(name);
    for (const each of chunks.get(name).imports) needed(each, found);
    return found;
  };
  const atStart = needed(output.find(({ isEntry }) => isEntry).fileName);
  const replaced = (whole, _quote, name) => {
    const others = [...needed(name)].filter(each => each !== name && !atStart.has(each));
    // The import of the module itself reports a failure.
    return others.length ? `(${JSON.stringify(others)}.map(f=>import("./"+f).catch(()=>0)),${whole})` : whole;
  };
  return output.map(({ fileName, code }) => ({
    fileName,
    code: code.replace(/\bimport\(([`'"])\.\/([\w-]+\.js)\1\)/g, replaced),
  }));
}

/** The name of a file that browsers keep: it belongs to one content. */
const hashed = (name, content) =>
  name.replace('.', `-${createHash('sha256').update(content).digest('base64url').slice(0, 8)}.`);

/** The letters of English and German: the other files of the package are for other scripts. */
const fontFile = 'node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2';

/** A file, and its compressed forms if they are smaller. */
function withCompressed(file) {
  const content = Buffer.from(file.code);
  const forms = [
    { fileName: `${file.fileName}.br`, code: brotliCompressSync(content) },
    { fileName: `${file.fileName}.gz`, code: gzipSync(content, { level: 9 }) },
  ];
  return [file, ...forms.filter(({ code }) => code.length < content.length)];
}

/**
 * Bundles the folder console, once for each language. Resolves to the files of the result, and to `inputs`, the paths in the
 * project of all files that were read, packages included.
 */
export async function bundleConsole() {
  const { transform } = await import('lightningcss');
  const code = readFileSync(join(root, fontFile));
  const font = { fileName: hashed('inter.woff2', code), code };
  const style = transform({
    filename: 'console.css',
    code: Buffer.from(readFileSync(join(root, 'console/console.css'), 'utf8').replace('inter.woff2', font.fileName)),
    minify: true,
  });
  const styles = { fileName: hashed('console.css', style.code), code: style.code };
  const bundles = await Promise.all(consoleLanguages.map(language => bundleIn(language, styles.fileName)));
  const files = [styles, ...bundles.flatMap(bundle => bundle.files)].flatMap(withCompressed);
  return { files: [font, ...files], inputs: [...bundles.flatMap(bundle => bundle.inputs), fontFile, ...plain] };
}

/** The modules and the first page in one language. */
async function bundleIn(language, styles) {
  const { rolldown } = await import('rolldown');
  const build = await rolldown({
    cwd: root,
    input: { console: 'console/main.tsx' },
    platform: 'browser',
    tsconfig: false,
    plugins: [wordsByPage(language), operationsOfConsole, eventsOfConsole, descriptionsOfConsole, codesOfConsole],
    transform: { target: 'es2024', jsx: { runtime: 'automatic', importSource: 'preact' } },
    onLog: (level, log, report) => report(log.code === 'UNRESOLVED_IMPORT' ? 'error' : level, log),
  });
  try {
    const { output } = await build.generate({
      format: 'esm',
      minify: true,
      comments: false,
      // Browsers that know this compile the file while they load it, beside the thread that draws: most of its functions run at once.
      postBanner: '//# allFunctionsCalledOnLoad',
      // One file: each file costs a request, and small ones compress badly.
      codeSplitting: {
        groups: [
          { name: 'base', test: ofMostPages },
          { name: 'words', test: ofAdministration },
        ],
      },
      // Browsers keep files permanently, the first pages apart: each name belongs to one content.
      entryFileNames: '[name]-[hash].js',
      // A page of an earlier build must not get a module of this one. The daemon serves names with one dot.
      chunkFileNames: ({ name }) => `${name.replaceAll('.', '-')}-[hash].js`,
    });
    const entry = output.find(({ isEntry }) => isEntry).fileName;
    const index = readFileSync(join(root, 'console/index.html'), 'utf8')
      .replace('lang="en"', `lang="${language}"`)
      .replace('"console.css"', `"${styles}"`)
      .replace('"console.js"', `"${entry}"`);
    const inputs = (await build.watchFiles).map(inProject).filter(file => !file.includes('\0'));
    return { files: [...loadedTogether(output), { fileName: `${language}.html`, code: index }], inputs };
  } finally {
    await build.close();
  }
}
