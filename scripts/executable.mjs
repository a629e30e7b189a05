#!/usr/bin/env node
// `npm run build:bin`: one file with Node, the program, its native modules and the files of Swagger UI in it, by Node's own
// single-executable build. The result is dist/bin/devmgr-PLATFORM. For the platform it runs on, or with
// `npm run build:bin -- --platform PLATFORM` for another one, whose parts npm has.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { fileOf } from './executable/fetch.mjs';
import { ownPlatform, partsOf, platforms } from './executable/targets.mjs';
import { definitions } from './lib/identity.mjs';
import { licencesOfAll } from './lib/licences-of-all.mjs';
import { fail, modules, node, root, run, say } from './lib/project.mjs';
import { setup } from './setup.mjs';

setup();
const { platform } = parseArgs({ options: { platform: { type: 'string', default: ownPlatform } } }).values;
if (!platforms.includes(platform))
  fail(`there is no executable for ${platform}.`, `Platforms whose parts npm has: ${platforms.join(', ')}.`);
const folder = join(root, 'dist', 'bin');
const name = `devmgr-${platform}${platform.startsWith('win-') ? '.exe' : ''}`;
const output = join(folder, name);
const main = join(folder, `${platform}.cjs`);
const require = createRequire(join(modules, 'x'));

const swaggerFiles = [
  'swagger-ui-bundle.js',
  'swagger-ui.css',
  'favicon-32x32.png',
  'favicon-16x16.png',
  'package.json',
];

/** Files of packages that look for their binary on disk, and what stands in their place. */
const replaced = [
  [
    /better-sqlite3\/lib\/index\.js$/,
    "module.exports = require('./database')(() => loadNative('better-sqlite3'), false); module.exports.SqliteError = require('./sqlite-error');",
  ],
  [
    /pkg-prebuilds\/bindings\.js$/,
    "module.exports = (_, { name }) => loadNative(name === 'HID_hidraw' ? 'node-hid-hidraw' : 'node-hid');",
  ],
  [/\/usb\/index\.js$/, "module.exports = loadNative('usb');"],
  [/pcsc-mini\/build\/addon\.node\.js$/, "module.exports = loadNative('pcsc-mini');"],
  [/@napi-rs\/keyring\/index\.js$/, "module.exports = loadNative('keyring');"],
];

/** Files of the folder packaging that the program reads. */
const packaged = ['udev/70-devmgr.rules', 'polkit/50-devmgr.rules', 'systemd/devmgr-user.service'];

/** Places of our own sources that ask the disk for a package or another file. */
function carried(path, source) {
  if (path.endsWith('drivers/pcsc/library.ts')) {
    return source.replace(/createRequire\([^;]*?\)\('(pcsc-mini[^']*)'\)/g, "require('$1')");
  }
  if (path.endsWith('daemon/http/routes/swagger-assets.ts')) {
    return `${source.replace('export async function readAsset(', 'async function readFromDisk(')}
      import { readCarried, readCarriedText } from ${JSON.stringify(join(root, 'scripts/executable/native.ts'))};
      export async function readAsset(name: AssetName): Promise<Asset> {
        const { version } = JSON.parse(readCarriedText('swagger-ui/package.json')) as { version: string };
        return { content: readCarried('swagger-ui/' + name), version };
      }`;
  }
  if (path.endsWith('src/cli/settings/packaged.ts')) {
    return `import { readCarriedText } from ${JSON.stringify(join(root, 'scripts/executable/native.ts'))};
      export const readPackaged = (name: string): string => readCarriedText('packaging/' + name);
      export const readLicences = (): string => readCarriedText('licences.txt');`;
  }
  return null;
}

function plugin() {
  return {
    name: 'executable',
    setup(build) {
      const native = JSON.stringify(join(root, 'scripts/executable/native.ts'));
      for (const [filter, contents] of replaced) {
        build.onLoad({ filter }, () => ({ contents: `const { loadNative } = require(${native}); ${contents}` }));
      }
      build.onLoad({ filter: /[\\/](library|swagger-assets|packaged)\.ts$/ }, ({ path }) => {
        const source = readFileSync(path, 'utf8');
        const contents = carried(path.replaceAll('\\', '/'), source);
        if (contents === source) throw new Error(`${path} no longer has the lines that the executable replaces`);
        return contents === null ? undefined : { contents, loader: 'ts' };
      });
    },
  };
}

async function bundleMain() {
  const { build } = await import('esbuild');
  await build({
    absWorkingDir: root,
    entryPoints: ['bin/devmgr.ts'],
    outfile: main,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node26',
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'warning',
    // With the code cache, import() does not work in an executable; require() does.
    supported: { 'dynamic-import': false },
    plugins: [plugin()],
    define: { 'import.meta.url': 'importMetaUrl', ...definitions(absent) },
    banner: { js: "const importMetaUrl=require('node:url').pathToFileURL(process.execPath).href;" },
  });
}

const parts = partsOf(platform);
const natives = {};
const absent = [];
for (const [name, part] of Object.entries(parts.natives)) {
  const file = await fileOf(part);
  if (file !== null) natives[name] = file;
  else {
    absent.push(name === 'keyring' ? '@napi-rs/keyring' : name);
    say(`npm has no ${part[0]}: the executable will do without ${name}, and say so`);
  }
}
const runtime = platform === ownPlatform ? node : await fileOf(parts.node);
if (runtime === null) fail(`npm has no Node for ${platform}.`, 'There is no executable for this platform.');
mkdirSync(folder, { recursive: true });
await bundleMain();
const licences = join(folder, `${platform}.licences.txt`);
writeFileSync(licences, await licencesOfAll());
const swagger = dirname(require.resolve('swagger-ui-dist/package.json'));
const assets = {
  'licences.txt': licences,
  ...Object.fromEntries(Object.entries(natives).map(([name, file]) => [`native/${name}`, file])),
  ...Object.fromEntries(packaged.map(name => [`packaging/${name}`, join(root, 'packaging', name)])),
  ...Object.fromEntries(swaggerFiles.map(name => [`swagger-ui/${name}`, join(swagger, name)])),
};
const config = join(folder, `${platform}.json`);
// Options of Node in the environment or on the command line are not the executable's.
const settings = {
  main,
  output,
  executable: runtime,
  disableExperimentalSEAWarning: true,
  // It belongs to one machine type: a foreign one would be refused at the start.
  useCodeCache: platform === ownPlatform,
  execArgvExtension: 'none',
  assets,
};
writeFileSync(config, JSON.stringify(settings));
const code = await run(node, ['--build-sea', config]);
if (code !== 0) fail(`Node's single-executable build ended with ${code}.`, 'Its own words stand above.');
for (const file of [config, main, licences]) rmSync(file);
const digest = createHash('sha256').update(readFileSync(output)).digest('hex');
writeFileSync(`${output}.sha256`, `${digest}  ${name}\n`);
if (platform.startsWith('darwin-')) say('to be signed on a Mac before it runs: codesign --sign - FILE');
say(`built ${output} (${Math.round(statSync(output).size / 1e6)} MB)`);
