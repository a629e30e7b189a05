// Parts of other platforms: from npm into a cache folder of this clone. node_modules and the lock file stay as they are.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fail, modules, root, run } from '../lib/project.mjs';

const cache = join(root, '.cache', 'platforms');
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
/**
 * Digests of packages that are not in the lock file: those with Node in them, which the package `node` fetches, and those of long checks.
 */
const runtimes = JSON.parse(readFileSync(join(root, 'scripts/executable/runtimes.json'), 'utf8'));

/**
 * The file of a package, in the version that the lock file names, or in another one of `runtimes.json`; downloaded if it is not
 * installed. Null if npm does not have the package.
 */
export async function fileOf([name, path], version) {
  // The package `node` installs the one with Node inside itself. `npm install` removes that folder: the lock file does not have it.
  const places = [join(modules, name, path), join(modules, 'node', 'node_modules', name, path)];
  const installed = version === undefined && places.find(existsSync);
  if (installed) return installed;
  const folder = await packageFolder(name, version);
  if (folder === null) return null;
  const file = join(folder, path);
  if (!existsSync(file)) fail(`${name} has no ${path}.`, 'There is no executable for this platform.');
  return file;
}

async function packageFolder(name, otherVersion) {
  const locked = lock[`node_modules/${name}`];
  const version = otherVersion ?? (locked ?? lock['node_modules/node']).version;
  const integrity = locked?.integrity ?? runtimes[`${name}@${version}`];
  if (!integrity)
    fail(
      `scripts/executable/runtimes.json has no digest of ${name}@${version}.`,
      `Add that of: npm view ${name}@${version} dist.integrity`,
    );
  const folder = join(cache, `${name.replace('/', '+')}-${version}`);
  if (existsSync(folder)) return join(folder, 'package');
  mkdirSync(cache, { recursive: true });
  const aside = mkdtempSync(join(cache, '.fetching-'));
  try {
    const tarball = fetchTarball(name, version, aside);
    if (tarball === null) return null;
    requireDigest(tarball, integrity, name);
    if ((await run('tar', ['-xzf', tarball, '-C', aside])) !== 0) fail(`${tarball} cannot be unpacked.`, 'Try again.');
    rmSync(tarball);
    renameSync(aside, folder);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
  return join(folder, 'package');
}

/** npm holds what it fetches against the digest that the registry names. Null where the registry has none. */
function fetchTarball(name, version, folder) {
  const windows = process.platform === 'win32';
  const call = ['pack', `${name}@${version}`, '--pack-destination', folder];
  const { status, stderr } = spawnSync(windows ? 'npm.cmd' : 'npm', call, { encoding: 'utf8', shell: windows });
  if (status === 0) return join(folder, `${name.replace(/^@/, '').replace('/', '-')}-${version}.tgz`);
  if (/E404/.test(stderr)) return null;
  return fail(
    `${name}@${version} could not be fetched from npm: ${stderr?.trim().split('\n')[0] ?? 'npm does not run'}`,
    'Check the network or the proxy, then run the same command again.',
  );
}

function requireDigest(tarball, integrity, name) {
  const [algorithm, wanted] = integrity.split(/-(.*)/);
  const found = createHash(algorithm).update(readFileSync(tarball)).digest('base64');
  if (found !== wanted)
    fail(`${name} is not what package-lock.json or runtimes.json names.`, 'Do not use it; compare with the registry.');
}
