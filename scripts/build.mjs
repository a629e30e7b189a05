#!/usr/bin/env node
// Builds dist/devmgr.cjs and dist/parts, in CommonJS for Node 22.19 and later, and dist/console for browsers. Node parses a file
// whole before it runs the first line (17 ms per megabyte), so each `await import()` of the sources begins a part, which is read
// when it is reached. A module that several parts use is in one file. Does nothing if no source has changed.
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { bundle, packageOf } from './lib/bundle.mjs';
import { buildClientPackage } from './lib/client-package.mjs';
import { bundleConsole } from './lib/console.mjs';
import { identity, natives } from './lib/identity.mjs';
import { noticesOf } from './lib/licenses.mjs';
import { fail, modules, root, say } from './lib/project.mjs';

export { natives };

const dist = join(root, 'dist');
const record = join(dist, '.build.json');

/** Files that change the program but are not part of it. */
const alsoInputs = [
  'package.json',
  'package-lock.json',
  'scripts/build.mjs',
  'scripts/lib/bundle.mjs',
  'scripts/lib/console.mjs',
  'scripts/lib/identity.mjs',
  'scripts/lib/licenses.mjs',
  'scripts/lib/notices/zxcvbn.txt',
];

/** Builds; resolves to false if the program was already built from these sources. */
export async function build() {
  if (isFresh()) return false;
  say('building dist/devmgr.cjs …');
  const started = Date.now();
  const [{ files, inputs: read }, page] = await Promise.all([
    bundle({ external: natives, absent: [] }),
    // `npm run left-out` builds a program without the console.
    existsSync(join(root, 'console')) ? bundleConsole() : { files: [], inputs: [] },
  ]);
  const inputs = [...new Set([...read, ...page.inputs, ...(await buildClientPackage())])];
  publishConsole(page.files);
  publish(files);
  copySwaggerUi();
  copyFileSync(join(modules, font, 'ttf', fontFile), join(dist, fontFile));
  const carried = new Set(inputs.map(packageOf).filter(name => name !== null));
  const packages = [...carried, 'node_modules/swagger-ui-dist', `node_modules/${font}`].sort();
  writeFileSync(join(dist, '.packages.json'), `${JSON.stringify(packages)}\n`);
  // Their licenses ask for it: the notices are shipped with the code.
  writeFileSync(join(dist, 'licenses.txt'), noticesOf(packages.map(path => join(root, path))));
  const sources = [...alsoInputs, ...inputs.filter(name => packageOf(name) === null)];
  writeFileSync(record, `${JSON.stringify({ identity: identity(), sources: digests(sources) }, null, 1)}\n`);
  say(`built dist/devmgr.cjs (${Date.now() - started} ms)`);
  return true;
}

/** The font of printed receipts, which standard output and the pages do without. */
const font = 'dejavu-fonts-ttf';
export const fontFile = 'DejaVuSans.ttf';

/** Of the package swagger-ui-dist: the four files that are served, and its version. */
export const swaggerFiles = [
  'swagger-ui-bundle.js',
  'swagger-ui.css',
  'favicon-32x32.png',
  'favicon-16x16.png',
  'package.json',
];

/** Into dist/swagger-ui, so that the program does without the package. */
function copySwaggerUi() {
  const folder = join(dist, 'swagger-ui');
  mkdirSync(folder, { recursive: true });
  for (const name of swaggerFiles) copyFileSync(join(modules, 'swagger-ui-dist', name), join(folder, name));
}

/** Into dist/console, where the daemon reads the files at the first request. */
function publishConsole(files) {
  const folder = join(dist, 'console');
  mkdirSync(folder, { recursive: true });
  for (const { fileName, code } of files) replaceFile(join(folder, fileName), code, 0o644);
  const written = new Set(files.map(({ fileName }) => fileName));
  for (const name of readdirSync(folder)) if (!written.has(name)) rmSync(join(folder, name), { force: true });
}

/** Replaces the files one by one, the program last, and removes parts that no longer exist. */
function publish(files) {
  mkdirSync(join(dist, 'parts'), { recursive: true });
  const program = files.find(file => file.fileName === 'devmgr.cjs');
  for (const file of [...files.filter(file => file !== program), program]) {
    replaceFile(join(dist, file.fileName), file.code, file === program ? 0o755 : 0o644);
  }
  const written = new Set(files.map(file => join(dist, file.fileName)));
  for (const folder of [dist, join(dist, 'parts')])
    for (const name of readdirSync(folder))
      if (name.endsWith('.cjs') && !written.has(join(folder, name))) rmSync(join(folder, name));
}

/** A program that reads the file during the build gets the complete old or new one. */
function replaceFile(path, content, mode) {
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, content);
  chmodSync(temporary, mode);
  renameSync(temporary, path);
}

function isFresh() {
  try {
    readFileSync(join(dist, 'devmgr.cjs'));
    const known = JSON.parse(readFileSync(record, 'utf8'));
    // A package names its own commit. In a clone the same sources under a later commit count as built.
    const isPackage = process.env.npm_lifecycle_event === 'prepack';
    const now = { identity: isPackage ? identity() : known.identity, sources: digests(Object.keys(known.sources)) };
    return JSON.stringify(now) === JSON.stringify(known);
  } catch {
    return false;
  }
}

/** Digest of each file. A new import is in a file that changed, so the files of the last build are enough. */
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
    // rolldown adds its own stack trace to the message.
    const words = stripVTControlCharacters(error.message).replaceAll(/^ +at .*\n?/gm, '');
    fail(`the build failed: ${words}`, 'Fix the lines it names, then run the same command again.');
  }
}
