// The identity of a build, for `devmgr --version`: nothing that changes while the sources stay the same.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { modules, root } from './project.mjs';

/** Packages with native code: they are loaded from node_modules, where npm put the binary of the platform. */
export const natives = ['@napi-rs/keyring', 'better-sqlite3', 'node-hid', 'pcsc-mini', 'usb'];

/** The inputs of the program; changes in here make a build that no commit describes. */
const product = ['bin', 'src', 'daemon', 'drivers', 'console', 'scripts', 'package.json', 'package-lock.json'];

/** `define` of esbuild: the version of the program and what is known of this build, `absent` the packages it is made without. */
export function definitions(absent = []) {
  const build = identity();
  const packages = Object.fromEntries(Object.entries(build.packages).filter(([name]) => !absent.includes(name)));
  return {
    DEVMGR_VERSION: JSON.stringify(readPackage(root).version),
    DEVMGR_BUILD: JSON.stringify({ ...build, packages }),
  };
}

let known = null;

/** The commit (null outside of a clone), whether files differ from it, its day, and the versions of what is built in. */
export function identity() {
  known ??= findIdentity();
  return known;
}

function findIdentity() {
  const commit = git('rev-parse', '--short=12', 'HEAD');
  const packages = Object.fromEntries(natives.map(name => [name, readPackage(join(modules, name)).version]));
  return {
    commit,
    changed: commit !== null && git('status', '--porcelain', '--', ...product) !== '',
    date: commit === null ? null : git('log', '-1', '--format=%cs'),
    sqlite: sqliteVersion(),
    packages,
  };
}

function git(...args) {
  const { status, stdout } = spawnSync('git', ['-C', root, ...args], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
}

function readPackage(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

/** Of the SQLite that better-sqlite3 is made with, from the header it carries. */
function sqliteVersion() {
  const header = readFileSync(join(modules, 'better-sqlite3', 'deps', 'sqlite3', 'sqlite3.h'), 'utf8');
  return /#define SQLITE_VERSION\s+"([\d.]+)"/.exec(header)?.[1] ?? null;
}
