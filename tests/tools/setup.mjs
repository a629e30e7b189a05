/**
 * `node tests/tools/setup.mjs [FOLDER]` installs the tools of this folder, or of another one of tests, if they are missing or
 * older than the lock file. Runs on any Node that has npm beside it; does nothing, and needs no network, when everything is there.
 */
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, run } from '../../scripts/lib/project.mjs';

const folder = join('tests', process.argv[2] ?? 'tools');
const here = join(root, folder);
const lock = join(here, 'package-lock.json');
/** Copy of the lock file that the installed tools were made from. */
const installed = join(here, 'node_modules', '.installed-lock.json');

if (!existsSync(installed) || readFileSync(installed, 'utf8') !== readFileSync(lock, 'utf8')) {
  const npm = process.env.npm_execpath;
  const [program, ...before] = npm ? [process.execPath, npm] : [process.platform === 'win32' ? 'npm.cmd' : 'npm'];
  const options = { cwd: here, stdio: ['ignore', 2, 2], shell: !npm && process.platform === 'win32' };
  const ended = run(program, [...before, 'ci', '--no-fund', '--no-audit'], options);
  const reason = await ended.then(
    code => (code === 0 ? null : `npm ci ended with ${code}`),
    error => error.message,
  );
  if (reason !== null) {
    console.error(`The tools in ${folder} could not be installed: ${reason}. Is the npm registry reachable?`);
    process.exit(1);
  }
  copyFileSync(lock, installed);
}
