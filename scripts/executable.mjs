#!/usr/bin/env node
// `npm run build:bin`: one file with Node, the program, its native modules and the files of Swagger UI in it, by Node's own
// single-executable build. For the platform it runs on. The result is dist/bin/devmgr-PLATFORM-ARCH.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fail, modules, node, root, run, say } from './lib/project.mjs';
import { setup } from './setup.mjs';

setup();
const target = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
const folder = join(root, 'dist', 'bin');
const output = join(folder, `devmgr-${target}${process.platform === 'win32' ? '.exe' : ''}`);
const main = join(folder, 'main.cjs');
const require = createRequire(join(modules, 'x'));

/** Where the binary of each native module lies in node_modules, for this platform. */
function nativeFiles() {
  const own = (name, ...path) => join(dirname(require.resolve(`${name}/package.json`)), ...path);
  const hid = name => own('node-hid', 'prebuilds', `${name}-${process.platform}-${process.arch}`, 'node-napi-v4.node');
  const napi = { linux: '-gnu', win32: '-msvc', darwin: '' }[process.platform];
  const cpu = { x64: 'x86_64', arm64: 'aarch64' }[process.arch];
  const pcsc = { linux: `linux-${cpu}-gnu`, win32: `windows-${cpu}-node`, darwin: `macos-${cpu}` }[process.platform];
  const platform = `${process.platform}-${process.arch}${napi}`;
  return {
    'better-sqlite3': own('better-sqlite3', 'prebuilds', `${process.platform}-${process.arch}.node`),
    'node-hid': hid('HID'),
    'node-hid-hidraw': hid(process.platform === 'linux' ? 'HID_hidraw' : 'HID'),
    usb: join(modules, '@node-usb', `usb-${platform}`, `usb.${platform}.node`),
    'pcsc-mini': join(modules, '@pcsc-mini', pcsc, 'addon.node'),
    keyring: join(modules, '@napi-rs', `keyring-${platform}`, `keyring.${platform}.node`),
  };
}

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

/** Places of our own sources that ask the disk for a package. */
function carried(path, source) {
  if (path.endsWith('drivers/pcsc/library.ts')) {
    return source.replace(/createRequire\([^;]*?\)\('pcsc-mini'\)/, "require('pcsc-mini')");
  }
  if (path.endsWith('daemon/routes/swagger-assets.ts')) {
    return `${source.replace('export async function readAsset(', 'async function readFromDisk(')}
      import { readCarried, readCarriedText } from ${JSON.stringify(join(root, 'scripts/executable/native.ts'))};
      export async function readAsset(name: AssetName): Promise<Asset> {
        const { version } = JSON.parse(readCarriedText('swagger-ui/package.json')) as { version: string };
        return { content: readCarried('swagger-ui/' + name), version };
      }`;
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
      build.onLoad({ filter: /\/(library|swagger-assets)\.ts$/ }, ({ path }) => {
        const source = readFileSync(path, 'utf8');
        const contents = carried(path, source);
        if (contents === source) throw new Error(`${path} no longer has the lines that the executable replaces`);
        return contents === null ? undefined : { contents, loader: 'ts' };
      });
    },
  };
}

async function bundleMain() {
  const { build } = await import('esbuild');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
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
    define: { 'import.meta.url': 'importMetaUrl', DEVMGR_VERSION: JSON.stringify(version) },
    banner: { js: "const importMetaUrl=require('node:url').pathToFileURL(process.execPath).href;" },
  });
}

const natives = nativeFiles();
const absent = Object.values(natives).filter(file => !existsSync(file));
if (absent.length > 0) fail(`not there: ${absent.join(', ')}`, `These packages have no binary for ${target}.`);
mkdirSync(folder, { recursive: true });
await bundleMain();
const swagger = dirname(require.resolve('swagger-ui-dist/package.json'));
const assets = {
  ...Object.fromEntries(Object.entries(natives).map(([name, file]) => [`native/${name}`, file])),
  ...Object.fromEntries(swaggerFiles.map(name => [`swagger-ui/${name}`, join(swagger, name)])),
};
const config = join(folder, 'sea.json');
// Options of Node in the environment or on the command line are not the executable's.
const settings = {
  main,
  output,
  disableExperimentalSEAWarning: true,
  useCodeCache: true,
  execArgvExtension: 'none',
  assets,
};
writeFileSync(config, JSON.stringify(settings));
const code = await run(node, ['--build-sea', config]);
if (code !== 0) fail(`Node's single-executable build ended with ${code}.`, 'Its own words stand above.');
for (const file of [config, main]) rmSync(file);
const digest = createHash('sha256').update(readFileSync(output)).digest('hex');
writeFileSync(`${output}.sha256`, `${digest}  devmgr-${target}\n`);
say(`built ${output} (${Math.round(statSync(output).size / 1e6)} MB)`);
