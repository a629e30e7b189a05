#!/usr/bin/env node
// Makes node_modules match package-lock.json and fetches the Node that the lock names. Runs on any Node from 18 on,
// with built-ins alone, because it is what everything else waits for. A second run changes nothing and takes no time.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fail, modules, node, root, say } from './lib/project.mjs';

const stamp = join(modules, '.devmgr-setup.json');
const windows = process.platform === 'win32';

/**
 * Installs what is missing; returns at once where nothing is. Ends the process with a reason where it cannot.
 * `checks: false` leaves out the packages of tests/package.json, which are half of the bytes.
 */
export function setup({ checks = true } = {}) {
  const lockText = readLock();
  const lock = JSON.parse(lockText);
  const wanted = { lock: createHash('sha256').update(lockText).digest('hex'), machine: machine(), checks };
  const found = readStamp();
  const current = found?.lock === wanted.lock && found.machine === wanted.machine && existsSync(node);
  if (current && (found.checks || !checks)) return;
  requireWritable();
  // Binaries in node_modules are for one platform: a folder that was copied from another machine is installed again.
  const foreign = found !== null && found.machine !== wanted.machine;
  if (!foreign && isInstalled(lock)) wanted.checks = true;
  else {
    const flags = [
      '--ignore-scripts',
      '--include=dev',
      '--include=optional',
      '--prefer-offline',
      '--no-audit',
      '--no-fund',
    ];
    if (!checks) flags.push('--workspaces=false');
    // `npm ci` removes everything first; where the packages of the program are current, `npm install` adds those of the checks.
    const words = current
      ? 'installing the packages that only the checks use'
      : 'installing dependencies from package-lock.json';
    step(`${words} (once)`, () => npm([...(current ? ['install', '--no-save'] : ['ci']), ...flags]));
  }
  const version = lock.packages['node_modules/node'].version;
  if (nodeVersion() !== `v${version}`) {
    step(`fetching Node ${version} from npm (once)`, () => npm(['rebuild', 'node', '--ignore-scripts=false']));
  }
  if (nodeVersion() !== `v${version}`) fail(`npm ran, but ${node} is not Node ${version}.`, adviceForNode());
  writeFileSync(stamp, `${JSON.stringify(wanted)}\n`);
}

/** Seconds between two lines of a step that takes long. */
const TICK = 10;

/** Names a step before it begins, and reports how long it takes. npm holds this process, so another one writes the lines. */
function step(words, work) {
  say(`${words} …`);
  const begun = Date.now();
  // Its input ends with this process, however that ends.
  const tick = `let s = 0; setInterval(() => process.stderr.write('devmgr: … ' + (s += ${TICK}) + ' s\\n'), ${TICK * 1000});
    process.stdin.on('end', () => process.exit()).resume();`;
  const ticker = spawn(process.execPath, ['-e', tick], { stdio: ['pipe', 'ignore', 'inherit'] });
  const end = () => ticker.kill();
  process.once('exit', end);
  work();
  process.off('exit', end);
  end();
  say(`… done in ${Math.round((Date.now() - begun) / 1000)} s`);
}

function readLock() {
  try {
    return readFileSync(join(root, 'package-lock.json'), 'utf8');
  } catch (error) {
    return fail(`package-lock.json cannot be read (${error.code}).`, 'Is this a complete clone?');
  }
}

function machine() {
  return `${process.platform}-${process.arch}`;
}

function readStamp() {
  try {
    return JSON.parse(readFileSync(stamp, 'utf8'));
  } catch {
    return null;
  }
}

/** Somebody may have run `npm ci` by hand: npm's own record of what it installed is as good as ours. */
function isInstalled(lock) {
  let record;
  try {
    record = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8')).packages;
  } catch {
    return false;
  }
  return Object.entries(lock.packages).every(([path, wanted]) => {
    if (path === '') return true;
    if (record[path] === undefined) return wanted.optional === true;
    // npm also records what it only planned (`--package-lock-only`): look for the package itself.
    return record[path].version === wanted.version && existsSync(join(root, path, 'package.json'));
  });
}

function requireWritable() {
  try {
    mkdirSync(modules, { recursive: true });
    accessSync(modules, constants.W_OK);
  } catch (error) {
    fail(
      `dependencies must be installed into ${modules}, which is not writable (${error.code}).`,
      'Run this as the owner of the folder, or clone into a folder of your own.',
    );
  }
}

/** The version that `node_modules/node` reports; null if it is absent or does not run. */
function nodeVersion() {
  const { status, stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
}

function adviceForNode() {
  const { stderr } = spawnSync(node, ['--version'], { encoding: 'utf8' });
  const library = /(lib[\w.+-]+\.so[.\d]*): cannot open shared object/.exec(stderr ?? '')?.[1];
  if (library === 'libatomic.so.1')
    return 'It wants libatomic.so.1: apt-get install libatomic1, then run the same command again.';
  if (library)
    return `It wants ${library}: install the package of this system that holds it, then run the same command again.`;
  return stderr
    ? `It reports: ${stderr.trim().split('\n', 1)[0]}`
    : `Delete node_modules and try again; if that does not help, npm has no package "node" for ${machine()}.`;
}

function npm(args) {
  const { command, prefix, options } = npmCommand();
  const { status, error, signal, stdout, stderr } = spawnSync(command, [...prefix, ...args], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
  });
  if (error?.code === 'ENOENT') fail('npm was not found.', 'Install Node.js with npm (any version from 18 on).');
  if (status === 0) return;
  if (signal) process.exit(130);
  const lines = `${stdout ?? ''}${stderr ?? ''}${error?.message ?? ''}`.trim().split('\n');
  const output = lines.filter(line => !line.includes('EBADENGINE')).join('\n');
  process.stderr.write(`${output.split('\n').slice(0, 15).join('\n')}\n`);
  fail(`\`npm ${args.slice(0, 2).join(' ')}\` failed.`, adviceFor(output));
}

/**
 * npm as the shell would find it, but never through node_modules/.bin: the Node in there is deleted while npm works.
 * A package manager's variables in the environment (omit=dev of a production machine, say) must not change the result.
 */
function npmCommand() {
  const path = (process.env.PATH ?? '').split(delimiter).filter(place => !place.startsWith(modules));
  const env = { ...process.env, PATH: path.join(delimiter), NODE_ENV: 'development', ...cacheOverride() };
  for (const name of ['npm_config_global', 'npm_config_prefix', 'npm_config_dry_run', 'npm_config_package_lock']) {
    delete env[name];
  }
  const found = path.some(place => existsSync(join(place, windows ? 'npm.cmd' : 'npm')));
  const carried = process.env.npm_execpath;
  if (!found && carried && /npm-cli\.c?js$/.test(carried)) {
    return { command: process.execPath, prefix: [carried], options: { env } };
  }
  return { command: windows ? 'npm.cmd' : 'npm', prefix: [], options: { env, shell: windows } };
}

/** npm needs a cache folder in the home. Without a writable home it uses a folder beside the project. */
function cacheOverride() {
  if (windows || process.env.npm_config_cache) return {};
  try {
    accessSync(process.env.HOME ?? '', constants.W_OK);
    return {};
  } catch {
    const place = isWritable(root) ? join(root, '.cache', 'npm') : join(tmpdir(), `devmgr-npm-${process.getuid()}`);
    return { npm_config_cache: place };
  }
}

function isWritable(folder) {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function adviceFor(output) {
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|ETIMEDOUT|ECONNRESET|network/i.test(output)) {
    return 'The npm registry cannot be reached: check the network or the proxy, then run the same command again.';
  }
  if (/CERT|certificate/i.test(output)) {
    return 'The registry’s certificate is not trusted: set `npm config set cafile FILE`, then run the same command again.';
  }
  if (/EACCES|EPERM|EROFS/.test(output)) {
    return 'A folder is not writable: run as the owner of this folder, or delete node_modules as that owner first.';
  }
  if (/ENOSPC/.test(output)) return 'The disk is full: make room (about 500 MB), then run the same command again.';
  return 'The lines above are from npm. Fix the problems that they name, then run the same command again.';
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) setup();
