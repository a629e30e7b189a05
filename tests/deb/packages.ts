import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
const [major, minor, patch = '0'] = version.split(/[.-]/);
const architecture = process.arch === 'x64' ? 'amd64' : process.arch;

/** Packages that later runs need not download again, and the packages of this run. */
export const cache = join(root, '.cache', 'debian');

export interface Package {
  readonly version: string;
  readonly name: string;
  readonly file: string;
}

/** The package of this state of the project. */
export const present = packageOf(version);
/** A package with a higher version, to upgrade to. */
export const next = packageOf(`${major}.${minor}.${Number(patch) + 1}`);

function packageOf(version: string): Package {
  const name = `devmgr_${version.replace('-', '~')}_${architecture}.deb`;
  return { version, name, file: join(cache, name) };
}

/** Builds both, once for all checks. */
export function setup(): void {
  for (const { version } of [present, next]) {
    const call = [join(root, 'scripts/deb.mjs'), '--fast', '--version', version, '--into', cache];
    execFileSync(process.execPath, call, { stdio: 'inherit' });
  }
}
