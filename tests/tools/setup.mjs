/**
 * Installs the tools of this folder if they are missing or older than the lock file. Runs on any Node that has npm
 * beside it; does nothing, and needs no network, when everything is there.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const lock = join(here, 'package-lock.json');
/** Copy of the lock file that the installed tools were made from. */
const installed = join(here, 'node_modules', '.installed-lock.json');

if (!existsSync(installed) || readFileSync(installed, 'utf8') !== readFileSync(lock, 'utf8')) {
  const npm = process.env.npm_execpath;
  const [program, ...before] = npm ? [process.execPath, npm] : [process.platform === 'win32' ? 'npm.cmd' : 'npm'];
  const { status, error } = spawnSync(program, [...before, 'ci', '--no-fund', '--no-audit'], {
    cwd: here,
    stdio: ['ignore', 2, 2],
    shell: !npm && process.platform === 'win32',
  });
  if (status !== 0) {
    const reason = error ? error.message : `npm ci ended with ${status}`;
    console.error(`The tools in tests/tools could not be installed: ${reason}. Is the npm registry reachable?`);
    process.exit(1);
  }
  copyFileSync(lock, installed);
}
