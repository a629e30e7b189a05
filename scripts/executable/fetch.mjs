// Parts of other platforms: from npm into a cache folder of this clone. node_modules and the lock file stay as they are.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fail, modules, root, run } from '../lib/project.mjs';

const cache = join(root, '.cache', 'platforms');
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;

/**
 * The file of a package, in the version that the lock file names; downloaded if it is not installed. Null if npm does not have the
 * package.
 */
export async function fileOf([name, path]) {
  // The package `node` installs the one with Node inside itself. `npm install` removes that folder: the lock file does not have it.
  const installed = [join(modules, name, path), join(modules, 'node', 'node_modules', name, path)].find(existsSync);
  if (installed !== undefined) return installed;
  const folder = await packageFolder(name);
  if (folder === null) return null;
  const file = join(folder, path);
  if (!existsSync(file)) fail(`${name} has no ${path}.`, 'There is no executable for this platform.');
  return file;
}

async function packageFolder(name) {
  // The packages with Node in them are fetched by the package `node`, which alone the lock file knows.
  const locked = lock[`node_modules/${name}`];
  const { version } = locked ?? lock['node_modules/node'];
  const folder = join(cache, `${name.replace('/', '+')}-${version}`);
  if (existsSync(folder)) return join(folder, 'package');
  mkdirSync(cache, { recursive: true });
  const aside = mkdtempSync(join(cache, '.fetching-'));
  try {
    const tarball = fetchTarball(name, version, aside);
    if (tarball === null) return null;
    if (locked?.integrity) requireDigest(tarball, locked.integrity, name);
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
    fail(`${name} is not what package-lock.json names.`, 'Do not use it; compare with the registry.');
}
